#include "lab/claims/claim_runner.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "base/error.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/numbers/rational.hpp"

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

std::size_t number_with(const std::vector<ClaimResult>& decisions, ClaimOutcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(decisions.begin(), decisions.end(),
                    [&](const ClaimResult& decision) { return decision.outcome == outcome; }));
}

std::size_t number_with(const std::vector<ClaimResult>& decisions, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(
      decisions.begin(), decisions.end(),
      [&](const ClaimResult& decision) { return decision.claim.verdict == verdict; }));
}

std::string counts_of(const std::vector<ClaimResult>& decisions) {
  const auto counted = [&](auto which, const char* word) {
    return std::to_string(number_with(decisions, which)) + word;
  };
  return std::to_string(decisions.size()) + (decisions.size() == 1 ? " claim: " : " claims: ") +
         counted(Verdict::holds, " hold, ") + counted(Verdict::seen, " seen, ") +
         counted(Verdict::holds_if, " hold if, ") + counted(Verdict::fails, " fail, ") +
         counted(Verdict::undecided, " undecided; ") +
         counted(ClaimOutcome::confirmed, " confirmed, ") +
         counted(ClaimOutcome::proof, " proof, ") + counted(ClaimOutcome::refuted, " refuted");
}

ClaimRunner::ClaimRunner(const std::string& tree)
    : context_{tree, read_shipped_uses(tree)},
      bindings_(read_bindings(tree)),
      checks_(all_checks()) {}

void ClaimRunner::require_check(const Claim& claim) const {
  if (claim.check && !checks_.contains(*claim.check))
    throw BadInput(context_.tree + "/proofs/claims.json, claim " + claim.id,
                   "names the unknown check " + *claim.check, "use a name of lab/claims/");
}

namespace {

/// What the evidence says of a claim: its check's verdict, or that of a theorem alone. A universal
/// statement that was seen on some cases and is proved for all holds.
std::optional<Verdict> established(const Claim& claim, const std::optional<CheckResult>& finding) {
  if (!claim.kind) return Verdict::undecided;
  if (!finding) return Verdict::holds;
  if (finding->verdict == Verdict::seen && claim.theorem) return Verdict::holds;
  return finding->verdict;
}

/// The first way in which the claim is not what its evidence says; empty if there is none.
std::string first_breach(const Claim& claim, const std::optional<CheckResult>& finding,
                         const Bindings& bindings) {
  const auto verdict = established(claim, finding);
  if (verdict != claim.verdict)
    return std::string("recorded as \"") + word_for(claim.verdict) + "\", and " +
           (finding ? verdict ? "the check finds \"" + std::string(word_for(*verdict)) +
                                    "\": " + finding->detail
                              : "the check " + finding->detail
                    : std::string("there is ") + (claim.kind ? "a theorem alone" : "no evidence"));
  constexpr std::string_view failed = "fails: ";
  if (verdict == Verdict::fails && finding->detail.starts_with(failed) &&
      !claim.ground.value_or("").starts_with(finding->detail.substr(failed.size())))
    return "the witness is another: " + finding->detail.substr(failed.size());
  if (claim.theorem) {
    const auto says = bindings.theorems.find(*claim.theorem);
    if (says == bindings.theorems.end())
      return "proofs/statements.txt does not say what " + *claim.theorem + " states";
    if (says->second != claim.pinned)
      return "the theorem " + *claim.theorem + " does not say what is pinned beside it";
  }
  const auto sealed = bindings.words.find(claim.id);
  if (sealed == bindings.words.end() || sealed->second != words_digest(claim))
    return "its words are not those that were sealed: read them against the evidence, then run "
           "checks/claims --renew";
  return "";
}

}  // namespace

ClaimResult conclude(const Claim& claim, const std::optional<CheckResult>& finding,
                     const Bindings& bindings) {
  ClaimResult decision{claim, ClaimOutcome::proof, "make -C proofs", 0.0};
  if (claim.verdict == Verdict::undecided) {
    decision.outcome = ClaimOutcome::undecided;
    decision.detail.clear();
  }
  if (finding) {
    decision.outcome = ClaimOutcome::confirmed;
    decision.detail = finding->detail;
  }
  if (const std::string breach = first_breach(claim, finding, bindings); !breach.empty()) {
    decision.outcome = ClaimOutcome::refuted;
    decision.detail = breach;
  }
  return decision;
}

ClaimResult ClaimRunner::decide(const Claim& claim) const {
  std::optional<CheckResult> finding;
  const auto begin = std::chrono::steady_clock::now();
  if (claim.check) finding = checks_.at(*claim.check)(context_);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  ClaimResult decision = conclude(claim, finding, bindings_);
  if (claim.check) decision.seconds = elapsed.count();
  if (claim.theorem && !theorem_is_stated(context_.tree, *claim.theorem)) {
    decision.outcome = ClaimOutcome::refuted;
    decision.detail = "proofs/ does not hold the theorem " + *claim.theorem;
  }
  return decision;
}

}  // namespace tempera::lab
