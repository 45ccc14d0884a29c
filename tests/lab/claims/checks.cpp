#include "lab/claims/checks.hpp"

#include <array>
#include <set>

#include "lab/claims/claim.hpp"
#include "lab/claims/claim_runner.hpp"
#include "lab/laws/shipped_models.hpp"
#include "tests/catch.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::checks_test {

using namespace tempera;

namespace {

const std::string tree = TEMPERA_SOURCE_DIR;

}  // namespace

TEST_CASE("every claim's check exists, every check is named, every theorem is stated") {
  const auto checks = lab::all_checks();
  std::set<std::string> named;
  for (const lab::Claim& claim : lab::read_claims(tree + "/proofs/claims.json")) {
    INFO(claim.id);
    if (claim.check) {
      CHECK(checks.contains(*claim.check));
      named.insert(*claim.check);
    }
    if (claim.theorem) CHECK(lab::theorem_is_stated(tree, *claim.theorem));
  }
  for (const auto& [name, check] : checks) {
    INFO(name);
    CHECK(named.contains(name));
  }
}

// What is planted here is the emptiest defect: nothing to check. A check that holds then would hold
// for the wrong reason.
TEST_CASE("a check without evidence does not hold") {
  const lab::CheckContext nothing{tree + "/no-such-folder", {}};
  for (const auto& [name, check] : lab::all_checks()) {
    const std::set<std::string> without_models{"adj_up",
                                               "adj_down",
                                               "adj_round_trip",
                                               "deo_round_trip",
                                               "adj_half_of_deo",
                                               "ladder_templates",
                                               "maximin_problem",
                                               "not_tokenwise",
                                               "restart_without_factor",
                                               "four_state_confinement",
                                               "four_state_target",
                                               "four_state_fixed",
                                               "four_state_truncating",
                                               "four_state_invariance",
                                               "four_state_moved",
                                               "tv_law_fixed",
                                               "tv_law_truncating",
                                               "tv_at_two",
                                               "tv_minimum",
                                               "tv_at_minimum",
                                               "censored_mass",
                                               "censored_mass_equality",
                                               "lottery_winner",
                                               "compiled_transformer",
                                               "same_bits",
                                               "swaps_call_no_model",
                                               "only_open_records_call",
                                               "weakest_edge_bounds",
                                               "gap_against_power",
                                               "stages_of_blocks",
                                               "swaps_accelerate",
                                               "growth_at_constant",
                                               "padding_in_vocabulary",
                                               "full_restart_sufficient",
                                               "inconsistent_stages",
                                               "divided_by_length",
                                               "gamma_acceptances",
                                               "geometric_rejections",
                                               "endpoint_stays",
                                               "self_transition_calls",
                                               "caches_follow_records",
                                               "cached_scores",
                                               "bias_bound_reached",
                                               "round_is_not_reversible",
                                               "back_with_an_eighth",
                                               "length_only_bound",
                                               "valid_masses",
                                               "falls_then_rises",
                                               "censored_unreachable",
                                               "full_restart_example",
                                               "hit_capacity_example",
                                               "gaussian_closed_form",
                                               "constant_energy",
                                               "return_times",
                                               "up_cascades",
                                               "lifted_chain",
                                               "elapsed_times",
                                               "growth_of_times",
                                               "real_round_trips",
                                               "ess_range",
                                               "vote_ties",
                                               "independent_randomness"};
    if (without_models.contains(name)) continue;
    INFO(name);
    CHECK_FALSE(check(nothing).sound());
  }
}

namespace {

/// Uses that are quick to check and between them have short records, censored ones, three rungs,
/// two terminal tokens, probabilities of zero and a restart law of their own.
std::vector<lab::ShippedUse> quick_uses() {
  std::vector<lab::ShippedUse> quick;
  for (lab::ShippedUse& use : lab::read_shipped_uses(tree)) {
    const std::set<std::string> files{"four_state.json", "zero_probabilities.json",
                                      "several_terminals.json", "four_tokens.json"};
    if (files.contains(use.name) && use.horizon <= 3) quick.push_back(std::move(use));
  }
  return quick;
}

std::vector<test::Planted> all_planted() {
  std::vector<test::Planted> all;
  for (auto&& part :
       {test::planted_in_records(), test::planted_in_kernels(), test::planted_in_bounds(),
        test::planted_in_drift(), test::planted_in_four_states(), test::planted_in_ladders(),
        test::planted_in_compiled(), test::planted_in_method(), test::planted_in_design(),
        test::planted_in_constructions(), test::planted_in_tables(), test::planted_in_samplers(),
        test::planted_in_scope()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

namespace {

/// The claims by the check that decides them.
std::map<std::string, lab::Claim> claims_by_check() {
  std::map<std::string, lab::Claim> claims;
  for (const lab::Claim& claim : lab::read_claims(tree + "/proofs/claims.json"))
    if (claim.check) claims.emplace(*claim.check, claim);
  return claims;
}

/// The claim with another verdict, its ground kept in the other's place.
lab::Claim turned(lab::Claim claim, lab::Verdict verdict) {
  claim.ground = verdict == lab::Verdict::holds ? std::nullopt
                                                : std::optional(claim.ground.value_or("something"));
  claim.verdict = verdict;
  return claim;
}

/// Whether the claim is refuted although its words were sealed as they are.
bool refuted_sealed(const lab::Claim& claim, const std::optional<lab::CheckResult>& finding,
                    lab::Bindings bindings) {
  bindings.words[claim.id] = lab::words_digest(claim);
  return lab::conclude(claim, finding, bindings).outcome == lab::ClaimOutcome::refuted;
}

constexpr std::array all_verdicts{lab::Verdict::holds, lab::Verdict::seen, lab::Verdict::holds_if,
                                  lab::Verdict::fails, lab::Verdict::undecided};

}  // namespace

TEST_CASE(
    "every check comes to its claim's verdict, to no other one, and to another on each defect "
    "planted in what it judges") {
  const auto checks = lab::all_checks();
  const auto quick = quick_uses();
  const auto all = lab::read_shipped_uses(tree);
  const auto claims = claims_by_check();
  const lab::Bindings bindings = lab::read_bindings(tree);
  std::map<std::string, lab::CheckResult> sound;
  for (const test::Planted& planted : all_planted()) {
    INFO(planted.check + ": " + planted.defect);
    const lab::Check& check = checks.at(planted.check);
    // The three models with named answers are none of the quick ones.
    const auto& uses = planted.check == "single_chain_ahead" ? all : quick;
    if (!sound.contains(planted.check)) {
      const lab::CheckResult& finding =
          sound.emplace(planted.check, check({tree, uses})).first->second;
      INFO(finding.detail);
      const lab::Claim& claim = claims.at(planted.check);
      const lab::ClaimResult decision = lab::conclude(claim, finding, bindings);
      INFO(decision.detail);
      CHECK(decision.outcome == lab::ClaimOutcome::confirmed);
      for (const lab::Verdict other : all_verdicts) {
        if (other == claim.verdict) continue;
        INFO("recorded as " << lab::word_for(other));
        CHECK(refuted_sealed(turned(claim, other), finding, bindings));
      }
    }
    lab::FunctionsUnderTest functions;
    planted.plant(functions);
    const lab::CheckResult finding = check({tree, uses, functions});
    INFO(finding.detail);
    CHECK(lab::conclude(claims.at(planted.check), finding, bindings).outcome ==
          lab::ClaimOutcome::refuted);
  }
  for (const auto& [name, check] : checks) {
    INFO(name + " has no planted defect");
    CHECK(sound.contains(name));
  }
}

TEST_CASE("what no check decides cannot be turned round either") {
  const lab::Bindings bindings = lab::read_bindings(tree);
  for (const lab::Claim& claim : lab::read_claims(tree + "/proofs/claims.json")) {
    if (claim.check) continue;
    INFO(claim.id);
    CHECK(lab::conclude(claim, std::nullopt, bindings).outcome ==
          (claim.kind ? lab::ClaimOutcome::proof : lab::ClaimOutcome::undecided));
    for (const lab::Verdict other : all_verdicts)
      CHECK((other == claim.verdict) !=
            refuted_sealed(turned(claim, other), std::nullopt, bindings));
  }
}

TEST_CASE("a theorem in the place of another, and one that says something else, is noticed") {
  const lab::Bindings bindings = lab::read_bindings(tree);
  std::size_t theorems = 0;
  for (const lab::Claim& claim : lab::read_claims(tree + "/proofs/claims.json")) {
    if (!claim.theorem) continue;
    INFO(claim.id);
    ++theorems;
    const std::optional<lab::CheckResult> finding =
        claim.check ? std::optional(lab::CheckResult{claim.verdict, ""}) : std::nullopt;
    CHECK_FALSE(refuted_sealed(claim, finding, bindings));
    // Every other true theorem, the pin left as it is.
    for (const auto& [name, type] : bindings.theorems) {
      if (type == claim.pinned) continue;
      lab::Claim other = claim;
      other.theorem = name;
      CHECK(refuted_sealed(other, finding, bindings));
      // With its own pin the words are others than were sealed.
      other.pinned = type;
      CHECK(lab::conclude(other, finding, bindings).outcome == lab::ClaimOutcome::refuted);
    }
    // A hypothesis more or less is another type.
    lab::Bindings weaker = bindings;
    weaker.theorems[*claim.theorem] = "0123456789abcdef";
    CHECK(refuted_sealed(claim, finding, weaker));
  }
  CHECK(theorems > 100);
}

TEST_CASE("no word of a claim can be changed without its seal") {
  const lab::Bindings bindings = lab::read_bindings(tree);
  for (const lab::Claim& claim : lab::read_claims(tree + "/proofs/claims.json")) {
    INFO(claim.id);
    const std::optional<lab::CheckResult> finding =
        claim.check ? std::optional(lab::CheckResult{claim.verdict, ""}) : std::nullopt;
    const auto refuted = [&](auto&& change) {
      lab::Claim changed = claim;
      change(changed);
      return lab::conclude(changed, finding, bindings).outcome == lab::ClaimOutcome::refuted;
    };
    CHECK_FALSE(refuted([](lab::Claim&) {}));
    CHECK(refuted([](lab::Claim& one) { one.statement += " It is always so."; }));
    CHECK(refuted([](lab::Claim& one) { one.label += "x"; }));
    CHECK(refuted([](lab::Claim& one) { one.quote = one.quote.value_or("") + "x"; }));
    CHECK(refuted([](lab::Claim& one) { one.place = one.place.value_or("") + "x"; }));
    if (claim.ground) {
      CHECK(refuted([](lab::Claim& one) { one.ground = "something else"; }));
      // A condition dropped: the verdict's own evidence says that it is needed.
      CHECK(refuted_sealed(turned(claim, lab::Verdict::holds), finding, bindings));
    }
    if (claim.missing) CHECK(refuted([](lab::Claim& one) { one.missing.reset(); }));
    // Nothing is bound in a tree without pins and seals.
    CHECK(lab::conclude(claim, finding, {}).outcome == lab::ClaimOutcome::refuted);
  }
}

TEST_CASE("a verdict that a theorem covers needs it, and a witness is the one that is computed") {
  lab::Claim claim{.id = "a",
                   .label = "l",
                   .quote = {},
                   .place = {},
                   .statement = "s",
                   .nature = "theorem",
                   .verdict = lab::Verdict::holds,
                   .ground = {},
                   .kind = "exact",
                   .check = "c",
                   .theorem = "f.t",
                   .pinned = "1",
                   .missing = {}};
  const lab::Bindings bindings{{{"f.t", "1"}}, {}};
  const lab::CheckResult seen{lab::Verdict::seen, "3 cases"};
  CHECK_FALSE(refuted_sealed(claim, seen, bindings));
  claim.theorem.reset();
  claim.pinned.reset();
  CHECK(refuted_sealed(claim, seen, bindings));
  CHECK_FALSE(refuted_sealed(turned(claim, lab::Verdict::seen), seen, bindings));
  claim = turned(claim, lab::Verdict::fails);
  claim.ground = "1 is not 2, as everyone knows";
  CHECK_FALSE(
      refuted_sealed(claim, lab::CheckResult{lab::Verdict::fails, "fails: 1 is not 2"}, bindings));
  CHECK(
      refuted_sealed(claim, lab::CheckResult{lab::Verdict::fails, "fails: 2 is not 3"}, bindings));
  CHECK(
      refuted_sealed(claim, lab::CheckResult{std::nullopt, "decides nothing: 0 cases"}, bindings));
}

}  // namespace tempera::checks_test
