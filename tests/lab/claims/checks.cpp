#include "lab/claims/checks.hpp"

#include <set>

#include "lab/claims/claim.hpp"
#include "tests/catch.hpp"

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
    const std::set<std::string> without_models{
        "round_trip",          "ladder_templates",     "four_state_target",
        "four_state_matrices", "four_state_tv",        "four_state_invariance",
        "lottery_winner",      "compiled_transformer", "same_bits"};
    if (without_models.contains(name)) continue;
    INFO(name);
    CHECK_FALSE(check(nothing).holds);
  }
}
