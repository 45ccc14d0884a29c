#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempera::lab {

/// What is known of a statement, as it is in the paper or here.
enum class Verdict {
  holds,      ///< exactly
  seen,       ///< a universal statement, on every case that was tried, and not proved
  holds_if,   ///< under a further assumption
  fails,      ///< with a witness
  undecided,  ///< cannot be decided here
};

/// "holds", "seen", "holds if", "fails" or "undecided": the word in claims.json and in every table.
const char* word_for(Verdict verdict);

/// One claim of proofs/claims.json.
struct Claim {
  std::string id;
  std::string label;  ///< the paper's label or, if there is none, its section's; or tempera:…
  std::vector<std::string> aliases = {};  ///< other labels of the paper's that it decides too
  /// The paper's own words, as its source has them, and where they are printed ("Sec. 3.4, Eq.
  /// 12"); nothing of what the paper does not say: a promise or a remark of tempera's own.
  std::optional<std::string> quote;
  std::optional<std::string> place;
  std::string statement;  ///< one sentence
  std::string nature;     ///< what is stated: definition, theorem, closed form, approximation,
                          ///< heuristic, table value, measured elsewhere, or promise of tempera
  Verdict verdict = Verdict::holds;
  /// The cases on which it was seen, the assumption under which it holds, the smallest witness of
  /// its failure, or why it cannot be decided; nothing if it holds.
  std::optional<std::string> ground;
  /// How it is decided: exact, compiled, proved, bitwise or statistical; nothing if undecided.
  std::optional<std::string> kind;
  std::optional<std::string> check;    ///< the check that confirms the verdict; none if proved
  std::optional<std::string> theorem;  ///< file.theorem in proofs/
  std::optional<std::string> pinned;   ///< digest of what the theorem says, see Bindings
  std::optional<std::string> missing;  ///< what the two do not cover

  /// Whether the paper says it.
  bool is_papers() const { return quote.has_value(); }
};

/// The key of claims.json for the ground of a verdict: "extent", "assumption", "witness" or
/// "reason".
const char* ground_for(Verdict verdict);

/// A claim that is proved has a theorem and no check, and holds; every other has a check of its
/// own, but for those that cannot be decided here, which have neither.
/// @throw BadInput naming file and claim for whatever is missing, unknown or given twice
std::vector<Claim> read_claims(const std::string& file);

/// What the claims of a tree are bound to.
struct Bindings {
  /// A digest of each theorem's type, from proofs/statements.txt, which `make -C proofs` pins.
  std::map<std::string, std::string> theorems;
  /// words_digest of each claim when it was last read against its evidence, from
  /// proofs/claims.sealed.
  std::map<std::string, std::string> words;
};

/// Empty maps if the tree lacks the files: then nothing is bound, and no claim is confirmed.
Bindings read_bindings(const std::string& tree);

/// The first 16 digits of the SHA-256 of all that claims.json says of the claim, one line a key, in
/// a fixed order.
std::string words_digest(const Claim& claim);

/// Whether `theorem` (file.name) is in proofs/ as a theorem, in a file that leaves nothing
/// unproved. That it is proved is for `make -C proofs` to say, which ./test runs.
bool theorem_is_stated(const std::string& tree, const std::string& theorem);

/// The statement of `theorem` as its file has it, from its name's line to its proof; empty if it is
/// not there.
std::string theorem_as_written(const std::string& tree, const std::string& theorem);

}  // namespace tempera::lab
