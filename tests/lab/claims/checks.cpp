#include "lab/claims/checks.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include "lab/claims/claim.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

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

TEST_CASE("a wrong entry of a matrix computed in Coq is found") {
  const test::TemporaryFolder folder;
  const std::filesystem::path copy = folder / "tree";
  std::filesystem::create_directories(copy / "proofs");
  std::filesystem::create_directories(copy / "toy_models");
  std::filesystem::copy_file(tree + "/toy_models/four_state.json",
                             copy / "toy_models/four_state.json");
  std::ofstream(copy / "proofs/matrices.txt")
      << "matrix four_state.json horizon 2 power 2 kernel fixed\n0 0 3/8\n0 1 3/8\n0 2 1/4\n"
         "1 0 3/8\n1 1 3/8\n1 2 1/4\n2 0 1/16\n2 1 1/8\n2 2 13/16\n";
  const lab::Verdict verdict =
      lab::all_checks().at("proved_matrices")(lab::Evidence{copy.string(), {}});
  CHECK_FALSE(verdict.holds);
  CHECK(verdict.detail.find("2, 1") != std::string::npos);
}
