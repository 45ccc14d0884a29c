#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using tempera::test::check_refusal;
using tempera::test::run_command;

TEST_CASE("round-trip gives the chains' counts beside the formulas'") {
  const auto result = run_command("round-trip --acceptance 1/2,1/3 --json");
  REQUIRE(result.exit_code == 0);
  CHECK(json::parse(result.out) ==
        json::parse(R"({"adj": "12", "deo": "24", "adj_up": "6", "adj_down": "6",
                        "adj_formula": "12", "deo_formula": "24"})"));
  const auto table = run_command("round-trip --acceptance 0.5");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("adj, from the chain    4 sweeps"));
}

TEST_CASE("wrong acceptances end in one line and exit code 2") {
  for (const char* arguments : {"", "--acceptance 0", "--acceptance 3/2", "--acceptance 1/2,",
                                "--acceptance x", "--acceptance -1"}) {
    check_refusal(std::string("round-trip ") + arguments, "acceptance");
  }
}
