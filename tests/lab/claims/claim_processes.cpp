#include "lab/claims/claim_processes.hpp"

#include <stdexcept>
#include <tuple>

#include "tests/catch.hpp"

namespace tempera::claim_processes_test {

using namespace tempera;

namespace {

const std::string tree = TEMPERA_SOURCE_DIR;

/// Claims of several kinds that take no time: by a check, by proof, undecided.
std::vector<lab::Claim> quick_claims() {
  std::vector<lab::Claim> quick;
  for (const lab::Claim& claim : lab::read_claims(tree + "/proofs/claims.json"))
    if (!claim.check || claim.check->starts_with("four_state") || claim.check->starts_with("adj_"))
      quick.push_back(claim);
  return quick;
}

using Found = std::tuple<std::string, lab::ClaimOutcome, std::string>;

std::vector<Found> found_by(const lab::ClaimRunner& runner, const std::vector<lab::Claim>& claims,
                            std::size_t processes) {
  std::vector<Found> found;
  lab::decide_claims(
      runner, claims, processes, [](const lab::Claim&) {},
      [&](const lab::ClaimResult& result) {
        found.emplace_back(result.claim.id, result.outcome, result.detail);
      });
  return found;
}

}  // namespace

TEST_CASE("claims decided by several processes have the results of one, in the claims' order") {
  const lab::ClaimRunner runner(tree);
  const auto claims = quick_claims();
  std::vector<Found> expected;
  for (const lab::Claim& claim : claims) {
    const lab::ClaimResult result = runner.decide(claim);
    expected.emplace_back(claim.id, result.outcome, result.detail);
  }
  REQUIRE(expected.size() > 90);
  for (const std::size_t processes : {1, 2, 3, 8}) {
    INFO(processes);
    CHECK(found_by(runner, claims, processes) == expected);
  }
  CHECK(found_by(runner, {claims.front()}, 8) == std::vector<Found>{expected.front()});
  CHECK(found_by(runner, {}, 8).empty());
}

TEST_CASE("what a check throws in a process is thrown, after the results of the claims before it") {
  const lab::ClaimRunner runner(tree);
  auto claims = quick_claims();
  claims.resize(20);
  claims[11].check = "no_such_check";
  for (const std::size_t processes : {1, 2, 3}) {
    INFO(processes);
    std::vector<std::string> decided;
    CHECK_THROWS_AS(
        lab::decide_claims(
            runner, claims, processes, [](const lab::Claim&) {},
            [&](const lab::ClaimResult& result) { decided.push_back(result.claim.id); }),
        std::out_of_range);
    REQUIRE(decided.size() == 11);
    for (std::size_t i = 0; i < decided.size(); ++i) CHECK(decided[i] == claims[i].id);
  }
}

}  // namespace tempera::claim_processes_test
