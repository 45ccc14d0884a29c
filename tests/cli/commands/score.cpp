#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/terminal/columns.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::score_test {

using nlohmann::json;
using namespace tempera::test;

namespace {

const std::string worked_sum = "--model " TEMPERA_SOURCE_DIR "/toy_models/worked_sum ";
const std::string toy_models = "--model " TEMPERA_SOURCE_DIR "/toy_models/";
const std::string worked = "4,11,10,11,3,11,2,11,8,11,3,11,4,11,4,12,13,4,1,0";

json answer(const std::string& arguments) {
  const auto result = run_command("score " + arguments + " --json");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  return json::parse(result.out);
}

}  // namespace

// toy_models/worked_sum/README.md, from Hugging Face transformers in float32, printed to 5e-4. Two
// float32 forward passes of this model differ by less than 1e-5 in a logit, 2e-5 in log p0.
TEST_CASE("score gives Hugging Face's log probabilities") {
  const json report = answer(worked_sum + "--tokens " + worked);
  REQUIRE(report["log_p"].size() == 19);
  const double golden[] = {-0.674, -0.914, -2.185, -0.000};
  double sum = 0.0;
  for (std::size_t t = 0; t < 4; ++t) {
    const double found = report["log_p"][15 + t];
    CHECK(std::abs(found - golden[t]) < 5e-4 + 2e-5);
    sum += found;
  }
  CHECK(std::abs(sum + 3.772) < 5e-4 + 8e-5);
  const json working =
      answer(worked_sum + "--text '3+9+2+1+7+2+3+3?<12,14,15,22,24,27,30=30<|end|>'");
  double total = 0.0;
  for (std::size_t t = 15; t < working["log_p"].size(); ++t)
    total += working["log_p"][t].get<double>();
  CHECK(std::abs(total + 1.641) < 5e-4 + 26 * 2e-5);
}

TEST_CASE("score prints tokens, log p0 and log z, and nothing else") {
  const json report = answer(worked_sum + "--tokens 4,11,10 --powers 1,2.5");
  CHECK(report.size() == 3);
  CHECK(report["tokens"] == json{4, 11, 10});
  REQUIRE(report["log_p"].size() == 2);
  REQUIRE(report["log_z"].size() == 2);
  for (const json& position : report["log_z"]) {
    REQUIRE(position.size() == 2);
    CHECK(std::abs(position[0].get<double>()) < 0x1p-44);  // log Σ p = 0
    CHECK(position[1].get<double>() < 0.0);
  }
  CHECK(answer(worked_sum + "--text 3+9 --powers 1,2.5") == report);
  CHECK(answer(worked_sum + "--text 3+9")["log_z"][0].size() == 1);
}

TEST_CASE("score reads finite models too") {
  const json report = answer(toy_models + "four_state.json --tokens 0,0,1 --powers 2");
  for (std::size_t t = 0; t < 2; ++t) {
    CHECK(std::abs(report["log_p"][t].get<double>() + std::log(2.0)) < 0x1p-44);
    CHECK(std::abs(report["log_z"][t][0].get<double>() + std::log(2.0)) < 0x1p-43);
  }
  const auto table = run_command("score " + toy_models + "four_state.json --text 'a a e'");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("-0.693147") && Catch::Contains("-1.386294"));
}

TEST_CASE("the table of scores fits 100 columns, however many powers and whatever the tokens") {
  const TemporaryFile wild(R"({"name": "m", "vocabulary": [")" + std::string(200, 'x') +
                           R"(", "b"], "terminal": [], "default": {")" + std::string(200, 'x') +
                           R"(": "1/2", "b": "1/2"}})");
  const auto table = run_command("score --model " + wild.path() +
                                 " --tokens 0,0,1 --powers 1,2,3,4,5,6,7.25,1048576,9");
  CAPTURE(table.out, table.err);
  REQUIRE(table.exit_code == 0);
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) CHECK(tempera::cli::columns_of(line) <= 100);
  CHECK_THAT(table.out, Catch::Contains("log z_1048576") && Catch::Contains("log z_9   text\n") &&
                            Catch::Contains("x...\n"));
  // A token that is a newline stays on its line.
  const auto text = run_command("score " + worked_sum + "--tokens 4,11,10");
  CHECK(std::count(text.out.begin(), text.out.end(), '\n') == 4);
}

TEST_CASE("score has finite numbers at both ends of the range of powers") {
  const json report =
      answer(worked_sum + "--tokens 4,11,10 --powers 0.00000095367431640625,1,1048576");
  for (const json& position : report["log_z"])
    for (const json& log_z : position) {
      REQUIRE(log_z.is_number());
      CHECK(std::isfinite(log_z.get<double>()));
    }
}

TEST_CASE("what cannot be scored ends in one line and exit code 2") {
  const std::string four = toy_models + "four_state.json ";
  const Refusal refusals[] = {
      {worked_sum + "--tokens 4,17", "number 2: 17 is outside the vocabulary"},
      {worked_sum + "--tokens 4,4294967296", "--tokens"},
      {worked_sum + "--tokens 4,-1", "--tokens"},
      {worked_sum + "--tokens 4,x", "--tokens"},
      {worked_sum + "--tokens 4", "tokens: 1 given"},
      {worked_sum + "--text ''", "--text: \"\" is empty"},
      {worked_sum + "--tokens ''", "--tokens: \"\" is not a whole number"},
      {worked_sum + "--tokens 4,010", "--tokens: \"010\" is not a whole number"},
      {worked_sum + "--tokens 4,,11", "--tokens: \"\" is not a whole number"},
      {worked_sum + "--tokens 4,11 --powers 1.7e308",
       "--powers: the power \"1.7e308\" is out of range"},
      {worked_sum + "--tokens 4,11 --powers 1048577", "--powers: the power \"1048577\" is out"},
      {worked_sum + "--text 3+x", "--text"},
      {worked_sum + "--text \"$(printf '3\\377')\"", "--text: byte 1 is not UTF-8"},
      {worked_sum + "--tokens 4,11 --text 3+", "--text"},
      {worked_sum, "--tokens: is missing; give --tokens or --text"},
      {worked_sum + "--tokens 4,11 --powers 0", "powers"},
      {worked_sum + "--tokens 4,11 --powers nan", "powers"},
      {worked_sum + "--tokens 4,11 --powers 1,x", "--powers"},
      {worked_sum + "--text " + std::string(65, '1'), "64"},
      {four + "--text 'a z'", "--text: \"z\" is not a token"},
      {four + "--text 'a e a'", "--text: token 2"},
      {four + "--tokens 0,1,0", "--tokens: token 2"},
      {four + "--tokens 7,0", "outside the vocabulary"},
      {toy_models + "zero_probabilities.json --text 'a c'", "number 2: 2 has probability zero"},
      {"--model /nowhere --tokens 1,2", "/nowhere: does not exist"},
      {"--tokens 1,2", "--model"},
      {four + "--tokens 0,0 --other", "--other"},
  };
  for (const Refusal& refusal : refusals) {
    for (const char* form : {"", " --json"})
      check_refusal("score " + refusal.arguments + form, refusal.message);
  }
}

}  // namespace tempera::score_test
