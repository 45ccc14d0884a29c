#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tempera::lab {

/// What is known of a statement, as it stands in the paper or here.
enum class Verdict {
  holds,      ///< exactly
  holds_if,   ///< under a further assumption
  fails,      ///< with a witness
  undecided,  ///< cannot be decided here
};

/// "holds", "holds if", "fails" or "undecided": the word in claims.json and in every table.
const char* word_for(Verdict verdict);

/// One claim of proofs/claims.json.
struct Claim {
  std::string id;
  std::string label;  ///< the paper's label or, where there is none, its section's; or tempera:…
  std::string statement;  ///< one sentence
  std::string nature;     ///< what is stated: definition, theorem, closed form, approximation,
                          ///< heuristic, table value, measured elsewhere, or promise of tempera
  Verdict verdict = Verdict::holds;
  /// The assumption under which it holds, the smallest witness of its failure, or why it cannot be
  /// decided; nothing where it holds.
  std::optional<std::string> ground;
  /// How it is decided: exact, compiled, proved, bitwise or statistical; nothing if undecided.
  std::optional<std::string> kind;
  std::optional<std::string> check;    ///< the check that confirms the verdict; none where proved
  std::optional<std::string> theorem;  ///< file.theorem in proofs/
  std::optional<std::string> missing;  ///< what the two do not cover
};

/// The key of claims.json for the ground of a verdict: "assumption", "witness" or "reason".
const char* ground_for(Verdict verdict);

/// A claim that is proved has a theorem and no check; every other has a check of its own, but for
/// those that cannot be decided here, which have neither.
/// @throw BadInput naming file and claim for whatever is missing, unknown or given twice
std::vector<Claim> read_claims(const std::string& file);

/// Whether `theorem` (file.name) stands in proofs/ as a theorem, in a file that leaves nothing
/// unproved. That it is proved is for `make -C proofs` to say, which ./test runs.
bool theorem_is_stated(const std::string& tree, const std::string& theorem);

}  // namespace tempera::lab
