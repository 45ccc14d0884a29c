#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "lab/claims/checks.hpp"
#include "lab/claims/join_case.hpp"
#include "tests/catch.hpp"
#include "tests/lab/claims/drawn_join_cases.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera;

namespace {

const std::string proofs = std::string(TEMPERA_SOURCE_DIR) + "/proofs/";

std::string contents(const std::string& file) {
  std::stringstream read;
  read << std::ifstream(file).rdbuf();
  return read.str();
}

/// What the check says if proofs/matrices.txt holds `matrices` and all else is as it is.
lab::CheckResult finding_on(const std::string& matrices,
                            const std::string& check = "proved_matrices") {
  const test::TemporaryFolder folder;
  const std::filesystem::path tree = folder / "tree";
  std::filesystem::create_directories(tree / "proofs");
  std::filesystem::copy_file(proofs + "join.json", tree / "proofs/join.json");
  std::ofstream(tree / "proofs/matrices.txt") << matrices;
  return lab::all_checks().at(check)(lab::CheckContext{tree.string(), {}});
}

/// `text` with the first `from` after `place` made `to`.
std::string with(const std::string& text, const std::string& after, const std::string& from,
                 const std::string& to) {
  const std::size_t begin = text.find(from, text.find(after));
  REQUIRE(begin != std::string::npos);
  return text.substr(0, begin) + to + text.substr(begin + from.size());
}

}  // namespace

TEST_CASE("the cases of the join are those that the generator draws") {
  const auto cases = test::drawn_join_cases();
  CHECK(contents(proofs + "join.json") == test::join_json(cases));
  CHECK(contents(proofs + "cases/join_cases.v") == test::join_coq(cases));
}

TEST_CASE("the cases of the join tell R from R^2, C from C^2 and one count from the other") {
  for (const std::size_t rungs : {std::size_t{2}, std::size_t{3}}) {
    std::set<std::size_t> local, sweeps;
    bool unequal = false;
    for (const lab::JoinCase& join : test::drawn_join_cases()) {
      if (join.ladder.rungs() != rungs || join.name == "four_state") continue;
      local.insert(join.n_local);
      sweeps.insert(join.n_sweep);
      unequal = unequal || join.n_local != join.n_sweep;
    }
    INFO("drawn models with K = " << rungs);
    CHECK(local.contains(2));
    CHECK(sweeps.contains(2));
    CHECK(unequal);
  }
}

// Hidden: build/release/tests/test_lab "[write-join-cases]", then make -C proofs matrices.
TEST_CASE("write the cases of the join anew", "[.][write-join-cases]") {
  const auto cases = test::drawn_join_cases();
  std::ofstream(proofs + "join.json") << test::join_json(cases);
  std::ofstream(proofs + "cases/join_cases.v") << test::join_coq(cases);
}

TEST_CASE("every matrix computed in Coq is the reference's, and each planted fault is found") {
  const std::string sound = contents(proofs + "matrices.txt");
  const lab::CheckResult finding = finding_on(sound);
  INFO(finding.detail);
  CHECK(finding.sound());

  const auto refused = [](const std::string& matrices, const std::string& detail,
                          const std::string& check = "proved_matrices") {
    const lab::CheckResult planted = finding_on(matrices, check);
    CHECK_FALSE(planted.sound());
    CHECK_THAT(planted.detail, Catch::Contains(detail));
  };
  const std::string first = "matrix local-2 3 3\n";
  refused(with(sound, first, "3/8 3/8 1/4", "3/8 1/4 3/8"), "four_state, local-2: 0, 1");
  refused(with(sound, "matrix transition", "/", "/1"), "four_state, transition: 0, ");
  const std::string progressive = with(sound, "matrix progressive-law", "/", "/1");
  refused(progressive, "progressive-law: 0, ", "proved_progressive");
  const std::string truncating = with(sound, "matrix truncating-1", "/", "/1");
  refused(truncating, "truncating-1: ", "proved_truncating");
  // An entry fails the claim that it belongs to, and no other.
  CHECK(finding_on(progressive).sound());
  CHECK(finding_on(progressive, "proved_truncating").sound());
  CHECK(finding_on(truncating).sound());
  CHECK(finding_on(truncating, "proved_progressive").sound());
  // Nine copies of one entry are not nine entries.
  refused(with(sound, first, "3/8 3/8 1/4 | 3/8 3/8 1/4 | 1/16 1/16 7/8\n",
               "3/8 3/8 3/8 | 3/8 3/8 3/8 | 3/8 3/8 3/8\n"),
          "four_state, local-2: 0, 2");
  refused(with(sound, first, "3/8 3/8 1/4 |", "3/8 3/8 1/4 | 3/8 3/8 1/4 |"),
          "four_state, local-2 has more than 3 rows");
  refused(with(sound, first, "3/8 3/8 1/4 |", "3/8 3/8 1/4 1/4 |"), "has 4 entries, not 3");
  refused(with(sound, first, "3/8 3/8 1/4 |", "3/8 3/8 |"), "has 2 entries, not 3");
  // A matrix left out, one given twice, and a file that ends early or goes on.
  refused(with(sound, first, first + "3/8 3/8 1/4 | 3/8 3/8 1/4 | 1/16 1/16 7/8\n", ""),
          "four_state, local-2 is not in its place");
  refused(with(sound, first, first, first + "3/8 3/8 1/4 | 3/8 3/8 1/4 | 1/16 1/16 7/8\n" + first),
          "is not in its place");
  refused(sound.substr(0, sound.find("case two_rungs_1")),
          "the case two_rungs_1 is not in its place");
  refused(sound.substr(0, sound.rfind("matrix ")), "progressive-law is not in its place");
  refused(sound + sound.substr(0, 100), "continues after the last case");
  refused("", "the case four_state is not in its place");
}
