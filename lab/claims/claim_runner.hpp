#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/claims/checks.hpp"
#include "lab/claims/claim.hpp"

namespace tempera::lab {

/// What became of a recorded verdict: its check confirms it now or refutes it; by proof no check
/// does, and `make -C proofs` checks its theorem; none of them if it is undecided.
enum class ClaimOutcome { confirmed, refuted, proof, undecided };

/// "confirmed", "refuted", "proof" or "undecided": the word in JSON.
const char* word_for(ClaimOutcome outcome);

/// One claim, and what became of it.
struct ClaimResult {
  Claim claim;
  ClaimOutcome outcome = ClaimOutcome::refuted;
  std::string detail;    ///< what the check found; empty if it is undecided
  double seconds = 0.0;  ///< that the check took; 0 without one
};

std::size_t number_with(const std::vector<ClaimResult>& decisions, ClaimOutcome outcome);
std::size_t number_with(const std::vector<ClaimResult>& decisions, Verdict verdict);

/// "230 claims: 160 hold, 30 seen, 12 hold if, 15 fail, 13 undecided; 137 confirmed, 80 proof, 0
/// refuted"
std::string counts_of(const std::vector<ClaimResult>& decisions);

/// Holds a claim against its evidence: what its check found, if it has one, and what it is bound
/// to. Confirmed only if the verdict that the check computed is the recorded one, the witness
/// recorded is the one computed, the theorem says what is pinned beside it, and the claim's words
/// are those that were sealed.
ClaimResult conclude(const Claim& claim, const std::optional<CheckResult>& finding,
                     const Bindings& bindings);

/// Decides claims by their checks, on the models of a tree.
class ClaimRunner {
 public:
  /// @throw BadInput if the tree's models cannot be read
  explicit ClaimRunner(const std::string& tree);
  /// @throw BadInput if the claim names a check that does not exist
  void require_check(const Claim& claim) const;
  /// Runs the claim's check, if it has one, and looks whether its theorem is stated.
  ClaimResult decide(const Claim& claim) const;

 private:
  CheckContext context_;
  Bindings bindings_;
  std::map<std::string, Check> checks_;
};

}  // namespace tempera::lab
