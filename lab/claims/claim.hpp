#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tempera::lab {

/// One claim of proofs/claims.json.
struct Claim {
  std::string id;
  std::string label;                   ///< the paper's label, or tempera:… for our own
  std::string statement;               ///< one sentence
  std::string kind;                    ///< exact, compiled, proved, bitwise or statistical
  std::optional<std::string> check;    ///< the check that decides it; none where it is proved
  std::optional<std::string> theorem;  ///< file.theorem in proofs/
  std::optional<std::string> missing;  ///< what the two do not cover
};

/// A claim that is proved has a theorem and no check; every other has a check of its own.
/// @throw reference::BadInput naming file and claim for whatever is missing, unknown or given twice
std::vector<Claim> read_claims(const std::string& file);

/// Whether `theorem` (file.name) stands in proofs/ as a theorem, in a file that leaves nothing
/// unproved. That it is proved is for `make -C proofs` to say, which ./test runs.
bool theorem_is_stated(const std::string& tree, const std::string& theorem);

}  // namespace tempera::lab
