// tempera compare on finite models.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using namespace tempera::test;

namespace {

const std::string models = TEMPERA_SOURCE_DIR "/toy_models/";

}  // namespace

TEST_CASE("compare says of each sampler on finite models what it takes and how far it is") {
  const auto result = run_command("compare " + models + "models.json " + models +
                                  "four_state.json " + models + "bimodal.json --horizon 2 --json");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out)["models"];
  REQUIRE(report.size() == 2);
  for (const json& model : report) {
    CHECK(model["horizon"] == 2);
    CHECK(model["samplers"].size() == 10);
    CHECK(model["samplers"][8]["sampler"] == "ppt");
    for (const json& row : model["samplers"]) {
      CHECK(std::stod(row["decode_tokens_decimal"].get<std::string>()) >= 1.0);
      const double tv = std::stod(row["tv_decimal"].get<std::string>());
      CHECK(tv >= 0.0);
      CHECK(tv < 1.0);
      CHECK(std::stod(row["log_likelihood"].get<std::string>()) < 0.0);
    }
  }
  // Of the paper's example at power 4: the base law is a fair coin's, 1/4 1/4 1/2, and its target
  // 1/18 1/18 16/18.
  CHECK(report[0]["samplers"][0]["tv"] == "7/18");
  CHECK(report[0]["samplers"][0]["decode_tokens"] == "3/2");
  CHECK(report[0]["records"] == 3);
}

TEST_CASE("the exact table fits a terminal, and what is no comparison is refused") {
  const auto table =
      run_command("compare " + models + "ties.json --powers 1,3 --horizon 3 --block 1 --rounds 2");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("uncoupled-ladder-by-likelihood"));
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
  }
  const Refusal refusals[] = {
      {models + "nowhere.json", "nowhere.json"},
      {models + "models.json", "is the list of the models"},
      {models + "ties.json " + models + "worked_sum", "is no finite model"},
      {models + "worked_sum " + models + "worked_sum", "is one folder too many"},
      {models + "ties.json --seed 3", "--seed: is for a folder with problems"},
      {models + "worked_sum --horizon 3", "--horizon: is for finite models"},
      {models + "ties.json --powers 2,1", "--powers"},
      {models + "ties.json --powers 1,3/2 --horizon 3", "rational"},
  };
  for (const auto& [arguments, message] : refusals) check_refusal("compare " + arguments, message);
}
