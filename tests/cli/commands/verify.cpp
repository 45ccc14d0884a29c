#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "cli/terminal/columns.hpp"
#include "lab/claims/claim.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using namespace tempera;
using namespace tempera::test;
using tempera::cli::columns_of;

namespace {

/// A tree with the shipped models and these claims; its one proof file holds the theorem `stated`.
/// The model that the planted defects are shown on may be another of the shipped ones.
constexpr const char* type_of_stated = "small.stated : True\n";

struct SmallTree {
  explicit SmallTree(const std::string& claims, const std::string& shown_on = "four_tokens.json") {
    const std::filesystem::path shipped = TEMPERA_SOURCE_DIR "/toy_models";
    std::filesystem::create_directories(folder / "proofs/theory");
    std::filesystem::create_directories(folder / "toy_models");
    std::ofstream(folder / "toy_models/models.json") << "[]";
    std::filesystem::copy_file(shipped / shown_on, folder / "toy_models/four_tokens.json");
    std::ofstream(folder / "proofs/claims.json") << claims;
    std::ofstream(folder / "proofs/theory/small.v")
        << "Theorem stated : True.\nProof. exact I. Qed.\n";
    std::ofstream(folder / "proofs/statements.txt")
        << "== small.stated " << sha256(type_of_stated).substr(0, 16) << '\n';
    seal();
  }
  /// Seals the claims as they are, if they can be read.
  void seal() const {
    std::ofstream sealed(folder / "proofs/claims.sealed");
    try {
      for (const lab::Claim& claim : lab::read_claims((folder / "proofs/claims.json").string()))
        sealed << claim.id << ' ' << lab::words_digest(claim) << " 0\n";
    } catch (const BadInput&) {
    }
  }
  void write_claims(const std::string& claims) const {
    std::ofstream(folder / "proofs/claims.json") << claims;
  }
  /// The command line that verifies it.
  std::string verify(const std::string& arguments) const {
    return "verify --tree " + (folder / ".").string() + " " + arguments;
  }

  TemporaryFolder folder;
};

/// A claim by check and theorem; if it names no check, by proof.
std::string claim(const std::string& id, const std::string& check, const std::string& theorem,
                  const std::string& missing = "",
                  const std::string& verdict = R"("verdict": "holds")") {
  const auto quoted = [](const std::string& text) {
    return text.empty() ? std::string("null") : '"' + text + '"';
  };
  return R"({"id": ")" + id + R"(", "label": "eq:x", "statement": "S.", "nature": "theorem", )" +
         verdict + R"(, "kind": ")" + (check.empty() ? "proved" : "exact") + R"(", "check": )" +
         quoted(check) + R"(, "theorem": )" + quoted(theorem) + R"(, "pinned": )" +
         quoted(theorem.empty() ? "" : sha256(type_of_stated).substr(0, 16)) +
         (missing.empty() ? "" : R"(, "missing": )" + quoted(missing)) + "}";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("verify decides the claims that are asked for and names their proof") {
  const auto result = run_command("verify --only record_law --json");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  const json report = json::parse(result.out);
  CHECK(report["hold"] == 1);
  CHECK(report["confirmed"] == 1);
  CHECK(report["proof"] == 0);
  CHECK(report["refuted"] == 0);
  CHECK(report["missed"] == 0);
  CHECK(report["defects"].empty());
  REQUIRE(report["claims"].size() == 1);
  const json& line = report["claims"][0];
  CHECK(line["id"] == "record-law");
  CHECK(line["check"] == "record_law");
  CHECK(line["verdict"] == "holds");
  CHECK(line["outcome"] == "confirmed");
  CHECK(line["ground"].is_null());
  CHECK(line["missing"].is_null());
  CHECK_FALSE(line["detail"].get<std::string>().empty());
  const auto table = run_command("verify --only record-law");
  CHECK(table.exit_code == 0);
  CHECK(line["by"] == "paper");
  CHECK(line["place"] == "App. A.1, Eq. 15");
  CHECK_THAT(table.out,
             Catch::Contains("  holds     confirmed exact    record-law ") &&
                 Catch::Contains("\n1 claim: 1 hold, 0 seen, 0 hold if, 0 fail, 0 undecided; "
                                 "1 confirmed, 0 proof, 0 refuted\n"));
  // One claim is told in full.
  CHECK_THAT(table.out,
             Catch::Contains("[theorem, eq:record-prob,") &&
                 Catch::Contains("App. A.1, Eq. 15: \"A fixed-horizon record x = x_{1:T}") &&
                 Catch::Contains("theorem record_space.p0_law_S_T"));
  const auto in_full = run_command("verify --only record-law --long");
  CHECK(in_full.out == table.out);
  CHECK(is_refusal(run_command("verify --only record-law --long --json")));
}

TEST_CASE("a claim by proof alone says so, names its theorem, and is not said to hold") {
  const SmallTree tree("[" + claim("sound", "tv_at_two", "small.stated") + ", " +
                       claim("by-proof", "", "small.stated") + "]");
  const auto table = run_command(tree.verify(""));
  CAPTURE(table.out, table.err);
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("\n  holds     confirmed exact ") &&
                            Catch::Contains("\n  holds     proof     proved ") &&
                            Catch::Contains("make -C proofs\n        theorem small.stated\n"));
  CHECK(
      lines_of(table.out).back() ==
      "2 claims: 2 hold, 0 seen, 0 hold if, 0 fail, 0 undecided; 1 confirmed, 1 proof, 0 refuted");
  const json report = json::parse(run_command(tree.verify("--json")).out);
  CHECK(report["claims"][0]["outcome"] == "confirmed");
  CHECK(report["claims"][1]["outcome"] == "proof");
  CHECK(report["claims"][1]["theorem"] == "small.stated");
  CHECK(report["hold"] == 2);
  CHECK(report["confirmed"] == 1);
  CHECK(report["proof"] == 1);
}

TEST_CASE("what a claim does not cover is printed, whole with --long and in JSON") {
  std::string missing = "the rounding of everything that is rounded, namely";
  for (int i = 0; i < 12; ++i) missing += " item-" + std::to_string(i);
  const SmallTree tree("[" + claim("a", "tv_at_two", "small.stated", missing) + "]");
  std::string not_covered;
  for (const std::string& line : lines_of(run_command(tree.verify("")).out))
    if (line.find("not covered") != std::string::npos) not_covered = line;
  CHECK_THAT(not_covered, Catch::StartsWith("        not covered: the rounding of everything") &&
                              Catch::EndsWith("..."));
  CHECK(columns_of(not_covered) <= 100);
  std::string in_full;
  for (const std::string& line : lines_of(run_command(tree.verify("--only a")).out)) {
    CHECK(columns_of(line) <= 100);
    in_full += line.substr(line.find_first_not_of(' ')) + " ";
  }
  CHECK_THAT(in_full, Catch::Contains(missing));
  CHECK(json::parse(run_command(tree.verify("--json")).out)["claims"][0]["missing"] == missing);
}

TEST_CASE("a planted defect that is missed is named, counted, and exit code 1") {
  // On a model of one record no defect can be seen.
  const SmallTree tree("[" + claim("sound", "tv_at_two", "small.stated") + "]", "one_record.json");
  const auto table = run_command(tree.verify(""));
  CAPTURE(table.out, table.err);
  CHECK(table.exit_code == 1);
  CHECK_THAT(table.out, Catch::Contains("  MISSED swap ratio with transposed powers") &&
                            Catch::Contains(" planted defects are missed\n") &&
                            Catch::Contains("1 confirmed, 0 proof, 0 refuted"));
  const auto result = run_command(tree.verify("--json"));
  CHECK(result.exit_code == 1);
  const json report = json::parse(result.out);
  CHECK(report["refuted"] == 0);
  REQUIRE(report["defects"].size() == 5);
  std::size_t missed = 0;
  for (const json& defect : report["defects"]) missed += defect["caught"].is_null() ? 1 : 0;
  CHECK(missed > 0);
  CHECK(report["missed"] == missed);
  // A claim asked for alone says nothing of the defects.
  CHECK(run_command(tree.verify("--only sound")).exit_code == 0);
}

TEST_CASE("the whole table fits 100 columns, ends in its counts, and JSON tells the same") {
  const auto table = run_command("verify");
  CAPTURE(table.out);
  REQUIRE(table.exit_code == 0);
  for (const std::string& line : lines_of(table.out)) {
    CAPTURE(line);
    CHECK(columns_of(line) <= 100);
  }
  CHECK_THAT(lines_of(table.out).back(),
             Catch::Contains(" claims: ") && Catch::Contains(" hold, ") &&
                 Catch::Contains(" seen, ") && Catch::Contains(" hold if, ") &&
                 Catch::Contains(" undecided; ") && Catch::Contains(" confirmed, ") &&
                 Catch::EndsWith(" proof, 0 refuted"));
  CHECK_THAT(table.out, Catch::StartsWith("the claims in proofs/claims.json: ") &&
                            Catch::Contains("not covered: ") && !Catch::Contains("MISSED"));
  // The paper's claims first, and of them those that do not simply hold.
  CHECK_THAT(table.out, Catch::Contains("\n\nthe paper's claims\n  fails     confirmed exact    "
                                        "terminal-frozen ") &&
                            Catch::Contains("\n\ntempera's own promises and remarks\n"));
  CHECK(table.out.find("the paper's claims") < table.out.find("tempera's own promises"));
  CHECK(table.out.find(" holds if  ") < table.out.find("\n  seen      "));
  CHECK(table.out.find("\n  seen      ") < table.out.find("\n  holds     "));
  CHECK_THAT(table.out, Catch::Contains("\nthe paper: ") && Catch::Contains("\ntempera's own: "));
  const auto result = run_command_once("verify.json", "verify --json");
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  for (const char* key : {"hold", "seen", "hold_if", "fail", "undecided", "confirmed", "proof"})
    CHECK(report["paper"][key].get<int>() + report["tempera"][key].get<int>() == report[key]);
  for (const json& line : report["claims"]) {
    INFO(line.dump());
    CHECK(line["outcome"] == (line["verdict"] == "undecided" ? "undecided"
                              : line["kind"] == "proved"     ? "proof"
                                                             : "confirmed"));
    CHECK(line["ground"].is_null() == (line["verdict"] == "holds"));
  }
  const auto number = [&](const char* key) { return report[key].get<std::size_t>(); };
  CHECK(number("hold") + number("seen") + number("hold_if") + number("fail") +
            number("undecided") ==
        report["claims"].size());
  CHECK(number("confirmed") + number("proof") + number("undecided") == report["claims"].size());
  for (const char* key : {"hold", "seen", "hold_if", "fail", "undecided"}) CHECK(number(key) > 0);
  CHECK(report["defects"].size() == 5);
  CHECK(report["missed"] == 0);
}

TEST_CASE("the long table fits 100 columns") {
  for (const std::string id : {"cached-ratio-log", "long-mass-harmless", "warm-start"}) {
    const auto table = run_command("verify --long --only " + id);
    CHECK(table.exit_code == 0);
    for (const std::string& line : lines_of(table.out)) CHECK(columns_of(line) <= 100);
  }
}

TEST_CASE("a claim that does not simply hold is told whole, and is not an error of tempera") {
  const SmallTree tree("[" +
                       claim("under", "tv_minimum", "", "",
                             R"("verdict": "holds if", "assumption": "something more")") +
                       R"(, {"id": "far", "label": "l", "statement": "S.",
                            "nature": "measured elsewhere", "quote": "it is $\\pi$",
                            "place": "Sec. 4", "verdict": "undecided", "reason": "needs a GPU"}])");
  const auto table = run_command(tree.verify(""));
  CAPTURE(table.out, table.err);
  // The check finds that it simply holds.
  CHECK(table.exit_code == 1);
  CHECK_THAT(table.out, Catch::Contains("\n  holds if  REFUTED   exact ") &&
                            Catch::Contains("recorded as \"holds if\"") &&
                            Catch::Contains("\n        assumption: something more\n") &&
                            Catch::Contains("\n  undecided ") &&
                            Catch::Contains("\n        S. [measured elsewhere, l]\n") &&
                            Catch::Contains("\n        Sec. 4: \"it is pi\"\n") &&
                            Catch::Contains("\n        reason: needs a GPU\n"));
  CHECK_THAT(
      table.out,
      Catch::Contains("\nthe paper: 1 claim: 0 hold, 0 seen, 0 hold if, 0 fail, 1 undecided;") &&
          Catch::Contains("\ntempera's own: 1 claim: 0 hold, 0 seen, 1 hold if, 0 fail,"));
  CHECK(
      lines_of(table.out).back() ==
      "2 claims: 0 hold, 0 seen, 1 hold if, 0 fail, 1 undecided; 0 confirmed, 0 proof, 1 refuted");
  const json report = json::parse(run_command("verify --only range-of-qwen3 --json").out);
  CHECK(report["claims"][0]["verdict"] == "fails");
  CHECK(report["claims"][0]["outcome"] == "confirmed");
  CHECK(report["fail"] == 1);
}

TEST_CASE("verify refutes a claim that is no longer what was bound") {
  const std::string sound = claim("sound", "tv_at_two", "small.stated");
  const auto refuted = [&](const std::string& claims, const std::string& why, bool sealed) {
    const SmallTree tree("[" + sound + "]");
    tree.write_claims("[" + claims + "]");
    if (sealed) tree.seal();
    const auto result = run_command(tree.verify("--only sound --json"));
    CAPTURE(claims, result.out, result.err);
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.out, Catch::Contains(why));
  };
  refuted(
      claim("sound", "tv_at_two", "small.stated", "", R"("verdict": "fails", "witness": "none")"),
      "the check finds", true);
  refuted(claim("sound", "tv_at_two", "small.stated", "a word more"), "not those that were sealed",
          false);
  std::string other = sound;
  other.replace(other.find(sha256(type_of_stated).substr(0, 16)), 16, "0123456789abcdef");
  refuted(other, "does not say what is pinned beside it", true);
  const SmallTree unsealed("[" + sound + "]");
  std::filesystem::remove(unsealed.folder / "proofs/claims.sealed");
  CHECK(run_command(unsealed.verify("--only sound")).exit_code == 1);
}

TEST_CASE("verify fails when a recorded verdict is refuted, and says which") {
  const SmallTree tree("[" + claim("sound", "tv_at_two", "small.stated") + ", " +
                       claim("unproved", "", "small.missing") + "]");
  const auto result = run_command(tree.verify("--json"));
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  const json report = json::parse(result.out);
  CHECK(report["confirmed"] == 1);
  CHECK(report["proof"] == 0);
  CHECK(report["refuted"] == 1);
  CHECK(report["claims"][0]["outcome"] == "confirmed");
  CHECK(report["claims"][1]["outcome"] == "refuted");
  CHECK_THAT(
      run_command(tree.verify("--only unproved")).out,
      Catch::Contains("  holds     REFUTED   proved") && Catch::Contains(" 0 proof, 1 refuted"));
  // A check that needs what the tree lacks refutes.
  const SmallTree bare("[" + claim("tables", "time_ratios", "") + "]");
  CHECK(run_command(bare.verify("--only tables")).exit_code == 1);
}

TEST_CASE("what cannot be verified ends in one line and exit code 2") {
  const SmallTree unknown("[" + claim("a", "no_such_check", "") + "]");
  const SmallTree broken("[{");
  const SmallTree late("[" + claim("a", "tv_at_two", "") + ", " + claim("b", "no_such_check", "") +
                       "]");
  check_refusal(late.verify(""), "claim b: names the unknown check no_such_check");
  check_refusal(unknown.verify("--json"), "claim a: names the unknown check no_such_check");
  check_refusal(broken.verify("--json"), "claims.json");
  check_refusal(unknown.verify("--only b --json"), "\"b\" is the name of no claim and of no check");
  check_refusal("verify --tree /nowhere --json", "/nowhere/proofs/claims.json");
  check_refusal("verify --other", "--other");
}

TEST_CASE("verify writes its report as one page, whole or not at all") {
  const SmallTree tree("[" + claim("sound", "tv_at_two", "small.stated") + ", " +
                       claim("unproved", "", "small.missing") + "]");
  const TemporaryFolder folder;
  const std::string file = (folder / "report.html").string();
  const auto result = run_command(tree.verify("--json --report " + file));
  CAPTURE(result.err);
  CHECK(result.exit_code == 1);
  CHECK(json::parse(result.out)["refuted"] == 1);
  const std::string page = bytes_of(file);
  CHECK_THAT(page, Catch::StartsWith("<!DOCTYPE html>") && Catch::EndsWith("</html>\n") &&
                       Catch::Contains("id=\"claim-sound\"") && Catch::Contains("1 refuted now") &&
                       Catch::Contains("37/128") && Catch::Contains("tail slice") &&
                       !Catch::Contains("MISSED"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "."), {}) == 1);
}

TEST_CASE("a report that cannot be written is refused before anything is checked") {
  const TemporaryFolder folder;
  check_refusal("verify --report /nowhere/report.html", "/nowhere/report.html: cannot be put");
  check_refusal("verify --report " + (folder / ".").string(), "is a folder, and no file");
  check_refusal("verify --json --report /dev/full", "/dev/full: is a device, and no file");
  CHECK(std::filesystem::is_character_file("/dev/full"));
  check_refusal("verify --only record-law --report " + (folder / "r.html").string(),
                "--only: has no effect beside --report");
  CHECK(std::filesystem::is_empty(folder / "."));
}
