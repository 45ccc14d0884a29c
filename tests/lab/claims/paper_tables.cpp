#include "lab/claims/paper_tables.hpp"

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
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
          "has an entry that is no text");
  refused(R"({"t": {"columns": ["A"], "groups": {"g": {"r": ["x"]}}}})", "is not a number");
}
