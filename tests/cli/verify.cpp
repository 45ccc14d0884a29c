#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/columns.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using namespace tempera::test;
using tempera::cli::columns_of;

namespace {

/// A tree with the shipped models and these claims; its one proof file holds the theorem `stated`.
struct SmallTree {
  explicit SmallTree(const std::string& claims) {
    std::filesystem::create_directories(folder / "proofs");
    std::filesystem::create_symlink(TEMPERA_SOURCE_DIR "/toy_models", folder / "toy_models");
    std::ofstream(folder / "proofs/claims.json") << claims;
    std::ofstream(folder / "proofs/small.v") << "Theorem stated : True.\nProof. exact I. Qed.\n";
  }
  /// The command line that verifies it.
  std::string verify(const std::string& arguments) const {
    return "verify --tree " + (folder / ".").string() + " " + arguments;
  }

  TemporaryFolder folder;
};

std::string claim(const std::string& id, const std::string& check, const std::string& theorem) {
  const auto quoted = [](const std::string& text) {
    return text.empty() ? std::string("null") : '"' + text + '"';
  };
  return R"({"id": ")" + id + R"(", "label": "eq:x", "statement": "S.", "kind": "exact", )" +
         R"("check": )" + quoted(check) + R"(, "theorem": )" + quoted(theorem) + "}";
}

}  // namespace

TEST_CASE("verify decides the claims that are asked for and names their proof") {
  const auto result = run_command("verify --only record_law --json");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  const json report = json::parse(result.out);
  CHECK(report["hold"] == report["claims"].size());
  CHECK(report["fail"] == 0);
  REQUIRE(report["claims"].size() >= 2);
  for (const json& line : report["claims"]) {
    CHECK(line["check"] == "record_law");
    CHECK(line["holds"] == true);
    CHECK_FALSE(line["detail"].get<std::string>().empty());
  }
  const auto table = run_command("verify --only record-law");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("holds exact") && Catch::Contains(" record-law ") &&
                            Catch::Contains("\n1 claims hold, 0 fail: 1 exact\n") &&
                            !Catch::Contains("eq:record-prob"));
  const auto in_full = run_command("verify --only record-law --long");
  CHECK(in_full.exit_code == 0);
  CHECK_THAT(in_full.out, Catch::Contains("[eq:record-prob]") &&
                              Catch::Contains("proof record_space.p0_law_S_T"));
  CHECK(is_refusal(run_command("verify --only record-law --long --json")));
}

TEST_CASE("the whole table fits 100 columns and ends in one line of counts by kind") {
  for (const char* form : {"verify", "verify --long"}) {
    const auto table = run_command(form);
    CAPTURE(table.out);
    REQUIRE(table.exit_code == 0);
    std::string last;
    std::istringstream lines(table.out);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(columns_of(line) <= 100);
      last = line;
    }
    CHECK_THAT(last, Catch::Contains(" claims hold, 0 fail: ") && Catch::Contains(" exact, ") &&
                         Catch::Contains(" compiled, ") && Catch::Contains(" proved, "));
    CHECK_THAT(table.out, Catch::StartsWith("the claims of " TEMPERA_SOURCE_DIR "/proofs"));
  }
}

TEST_CASE("verify fails when one claim does, and says which") {
  const SmallTree tree("[" + claim("sound", "four_state_tv", "small.stated") + ", " +
                       claim("unproved", "", "small.missing") + "]");
  const auto result = run_command(tree.verify("--json"));
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  const json report = json::parse(result.out);
  CHECK(report["hold"] == 1);
  CHECK(report["fail"] == 1);
  CHECK(report["claims"][0]["holds"] == true);
  CHECK(report["claims"][1]["holds"] == false);
  CHECK_THAT(run_command(tree.verify("--only unproved")).out, Catch::Contains("FAILS"));
}

TEST_CASE("what cannot be verified ends in one line and exit code 2") {
  const SmallTree unknown("[" + claim("a", "no_such_check", "") + "]");
  const SmallTree broken("[{");
  const SmallTree late("[" + claim("a", "four_state_tv", "") + ", " +
                       claim("b", "no_such_check", "") + "]");
  check_refusal(late.verify(""), "claim b: names the unknown check no_such_check");
  check_refusal(unknown.verify("--json"), "claim a: names the unknown check no_such_check");
  check_refusal(broken.verify("--json"), "claims.json");
  check_refusal(unknown.verify("--only b --json"), "\"b\" is the name of no claim and of no check");
  check_refusal("verify --tree /nowhere --json", "/nowhere/proofs/claims.json");
  check_refusal("verify --other", "--other");
}
