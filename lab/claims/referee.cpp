#include "lab/claims/referee.hpp"

#include <algorithm>
#include <chrono>

#include "base/error.hpp"

namespace tempera::lab {

const char* word_for(ClaimOutcome outcome) {
  switch (outcome) {
    case ClaimOutcome::confirmed:
      return "confirmed";
    case ClaimOutcome::refuted:
      return "refuted";
    case ClaimOutcome::proof:
      return "proof";
    case ClaimOutcome::undecided:
      return "undecided";
  }
  return "";
}

std::size_t number_with(const std::vector<Decision>& decisions, ClaimOutcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(decisions.begin(), decisions.end(),
                    [&](const Decision& decision) { return decision.outcome == outcome; }));
}

std::size_t number_with(const std::vector<Decision>& decisions, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(decisions.begin(), decisions.end(),
                    [&](const Decision& decision) { return decision.claim.verdict == verdict; }));
}

std::string counts_of(const std::vector<Decision>& decisions) {
  const auto counted = [&](auto which, const char* word) {
    return std::to_string(number_with(decisions, which)) + word;
  };
  return std::to_string(decisions.size()) + " claims: " + counted(Verdict::holds, " hold, ") +
         counted(Verdict::holds_if, " hold if, ") + counted(Verdict::fails, " fail, ") +
         counted(Verdict::undecided, " undecided; ") +
         counted(ClaimOutcome::confirmed, " confirmed, ") +
         counted(ClaimOutcome::proof, " proof, ") + counted(ClaimOutcome::refuted, " refuted");
}

Referee::Referee(const std::string& tree)
    : evidence_{tree, read_shipped_uses(tree)}, checks_(all_checks()) {}

void Referee::require_check(const Claim& claim) const {
  if (claim.check && !checks_.contains(*claim.check))
    throw BadInput(evidence_.tree + "/proofs/claims.json, claim " + claim.id,
                   "names the unknown check " + *claim.check, "use a name of lab/claims/");
}

Decision Referee::decide(const Claim& claim) const {
  Decision decision{claim, ClaimOutcome::proof, "make -C proofs", 0.0};
  if (claim.verdict == Verdict::undecided) {
    decision.outcome = ClaimOutcome::undecided;
    decision.detail.clear();
  }
  if (claim.check) {
    const auto begin = std::chrono::steady_clock::now();
    const Finding finding = checks_.at(*claim.check)(evidence_);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    decision.outcome = finding.confirms ? ClaimOutcome::confirmed : ClaimOutcome::refuted;
    decision.detail = finding.detail;
    decision.seconds = elapsed.count();
  }
  if (claim.theorem && !theorem_is_stated(evidence_.tree, *claim.theorem)) {
    decision.outcome = ClaimOutcome::refuted;
    decision.detail = "fails: proofs/ does not hold the theorem " + *claim.theorem;
  }
  return decision;
}

}  // namespace tempera::lab
