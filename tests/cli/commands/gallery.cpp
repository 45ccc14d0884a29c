#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/terminal/columns.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using tempera::test::check_refusal;
using tempera::test::run_command;

TEST_CASE("the gallery catches at least 24 defects and shows each with its smallest model") {
  const auto result = run_command("gallery --json");
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  const json gallery = json::parse(result.out);
  CHECK(gallery["missed"] == 0);
  CHECK(gallery["caught"] == gallery["defects"].size());
  CHECK(gallery["defects"].size() >= 24);
  for (const json& one : gallery["defects"]) {
    CHECK(one["caught"] == true);
    CHECK(one["model"]["vocabulary"].is_array());
    CHECK(one["counterexample"].get<std::string>().size() > 10);
    CHECK(one["seconds"] > 0.0);
  }
}

TEST_CASE("one defect of the gallery by its name, in 100 columns") {
  const auto result = run_command("gallery --only 'tail slice'");
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out,
             Catch::Contains("1 defects: 1 caught, 0 missed") && Catch::Contains("flows"));
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) CHECK(tempera::cli::columns_of(line) <= 100);
  check_refusal("gallery --only nothing", "is not a planted defect");
}
