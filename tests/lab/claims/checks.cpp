#include "lab/claims/checks.hpp"

#include <set>

#include "lab/claims/claim.hpp"
#include "tests/catch.hpp"
#include "tests/lab/claims/planted.hpp"

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
  const lab::Evidence nothing{tree + "/no-such-folder", {}};
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
                                               "swaps_do_not_help",
                                               "advantage_of_slower",
                                               "long_mass_harmless",
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
                                               "vote_ties"};
    if (without_models.contains(name)) continue;
    INFO(name);
    CHECK_FALSE(check(nothing).confirms);
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
        test::planted_in_constructions(), test::planted_in_tables(), test::planted_in_samplers()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEST_CASE("every check holds on what is sound and fails on each defect planted in what it judges") {
  const auto checks = lab::all_checks();
  const auto uses = quick_uses();
  std::set<std::string> sound;
  for (const test::Planted& planted : all_planted()) {
    INFO(planted.check + ": " + planted.defect);
    const lab::Check& check = checks.at(planted.check);
    if (sound.insert(planted.check).second) {
      const lab::Finding finding = check({tree, uses});
      INFO(finding.detail);
      CHECK(finding.confirms);
    }
    lab::Judged judged;
    planted.plant(judged);
    const lab::Finding finding = check({tree, uses, judged});
    INFO(finding.detail);
    CHECK_FALSE(finding.confirms);
    CHECK_THAT(finding.detail, Catch::StartsWith("fails: "));
  }
  for (const auto& [name, check] : checks) {
    INFO(name + " has no planted defect");
    CHECK(sound.contains(name));
  }
}
