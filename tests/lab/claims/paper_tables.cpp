#include "lab/claims/paper_tables.hpp"

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera;

namespace {

lab::PaperTables tables_of(const std::string& json) {
  const test::TemporaryFolder tree;
  std::filesystem::create_directories(tree / "proofs");
  std::ofstream(tree / "proofs/paper_tables.json") << json;
  std::ofstream(tree / "proofs/paper_tables.sealed")
      << sha256(json).substr(0, 16) << " paper_tables.json\n";
  return lab::read_paper_tables((tree / ".").string());
}

}  // namespace

TEST_CASE("a table's entries are read as the decimals that are printed") {
  auto tables =
      tables_of(R"({"tab:x": {"columns": ["A", "B"], "groups": {"g": {"r": ["83.3", null]}}}})");
  lab::PaperTable& table = tables.at("tab:x");
  CHECK(table.entry("g", "r", "A") == reference::Rational(833, 10));
  CHECK_THROWS_AS(table.entry("g", "r", "B"), BadInput);
  CHECK_THROWS_AS(table.entry("g", "r", "C"), BadInput);
  CHECK_THROWS_AS(table.entry("g", "s", "A"), BadInput);
  table.entry("g", "r", "A") = 1;
  CHECK(table.entry("g", "r", "A") == 1);
}

TEST_CASE("what a table prints in bold is read, and is one of its entries") {
  const std::string begin =
      R"({"t": {"columns": ["A", "B"], "groups": {"g": {"r": ["1", null]}}, )";
  const auto bold = tables_of(begin + R"("bold": {"g": {"r": ["A"]}}}})").at("t").bold;
  CHECK(bold == decltype(bold){{"g", "r", "A"}});
  CHECK(tables_of(begin + R"("bold": {}}})").at("t").bold.empty());
  for (const char* wrong : {R"({"g": {"r": ["B"]}})", R"({"g": {"s": ["A"]}})",
                            R"({"h": {"r": ["A"]}})", R"({"g": {"r": ["C"]}})"})
    CHECK_THROWS_AS(tables_of(begin + R"("bold": )" + wrong + "}}"), BadInput);
}

TEST_CASE("tables that were not compared with the paper as they are decide nothing") {
  const test::TemporaryFolder tree;
  std::filesystem::create_directories(tree / "proofs");
  const std::string json = R"({"t": {"columns": ["A"], "groups": {"g": {"r": ["1"]}}}})";
  const auto read = [&] { return lab::read_paper_tables((tree / ".").string()); };
  std::ofstream(tree / "proofs/paper_tables.json") << json;
  CHECK_THROWS_WITH(read(), Catch::Contains("is not as it was compared with the paper's source"));
  std::ofstream(tree / "proofs/paper_tables.sealed")
      << sha256(json).substr(0, 16) << " paper_tables.json\n";
  CHECK(read().at("t").entry("g", "r", "A") == 1);
  std::ofstream(tree / "proofs/paper_tables.json")
      << R"({"t": {"columns": ["A"], "groups": {"g": {"r": ["2"]}}}})";
  CHECK_THROWS_AS(read(), BadInput);
}

TEST_CASE("a malformed table is refused with its place") {
  const auto refused = [](const std::string& json, const std::string& what) {
    INFO(json);
    CHECK_THROWS_WITH(tables_of(json), Catch::Contains(what));
  };
  refused("[]", "paper_tables.json");
  refused(R"({"t": {"columns": ["A"]}})", "groups");
  refused(R"({"t": {"columns": ["A"], "groups": {"g": {"r": ["1", "2"]}}}})",
          "has not one entry for each column");
  refused(R"({"t": {"columns": ["A"], "groups": {"g": {"r": [1]}}}})",
          "has an entry that is not text");
  refused(R"({"t": {"columns": ["A"], "groups": {"g": {"r": ["x"]}}}})", "is not a number");
}
