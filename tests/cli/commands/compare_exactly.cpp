// tempera compare on finite models.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::compare_exactly_test {

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
    CHECK(model["samplers"].size() == 11);
    CHECK(model["samplers"][8]["sampler"] == "ppt");
    for (const json& row : model["samplers"]) {
      CHECK(std::stod(row["decode_tokens_decimal"].get<std::string>()) >= 1.0);
      const double tv = std::stod(row["tv_decimal"].get<std::string>());
      CHECK(tv >= 0.0);
      CHECK(tv < 1.0);
      CHECK(std::stod(row["log_likelihood"].get<std::string>()) < 0.0);
    }
  }
  // This is the paper's example at power 4: the base law is a fair coin's, 1/4 1/4 1/2, and its
  // target 1/18 1/18 16/18.
  CHECK(report[0]["samplers"][0]["tv"] == "7/18");
  CHECK(report[0]["samplers"][0]["decode_tokens"] == "3/2");
  CHECK(report[0]["records"] == 3);
  // Its answer is e: half of the base law, 16/18 of the target; N answers hold one but for 2^-N.
  CHECK(report[0]["answers"] == json{"e"});
  CHECK(report[0]["target_answer_probability"] == "8/9");
  CHECK(report[0]["samplers"][0]["answer_probability"] == "1/2");
  CHECK(report[0]["samplers"][0]["open_probability"] == "1/4");
  const json& best = report[0]["samplers"][5];
  const auto n = std::stoul(best["effort"].get<std::string>().substr(4));
  CHECK(best["answer_probability"] ==
        std::to_string((1UL << n) - 1) + '/' + std::to_string(1UL << n));
}

TEST_CASE("the answers of a model without any come from a flag, which comes before the file's") {
  const auto answers = [](const std::string& arguments) {
    const auto result = run_command("compare " + models + arguments + " --horizon 2 --json");
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out)["models"][0];
  };
  const json without = answers("ties.json");
  CHECK(without["answers"] == json::array());
  CHECK(without["target_answer_probability"].is_null());
  CHECK(without["samplers"][0]["answer_probability"].is_null());
  // 1/2 · 1/4 and 1/8.
  CHECK(answers("ties.json --answers 'a a|e'")["samplers"][0]["answer_probability"] == "1/4");
  const json other = answers("four_state.json --answers 'a'");
  CHECK(other["target_answer_probability"] == "1/9");
  const auto table = run_command("compare " + models + "ties.json --horizon 2");
  CHECK_THAT(table.out, !Catch::Contains("E log p0     answer"));
  const auto with_answers = run_command("compare " + models + "four_state.json --horizon 2");
  CHECK_THAT(with_answers.out, Catch::Contains("answers") && Catch::Contains("\"e\"") &&
                                   Catch::Contains("E log p0     answer") &&
                                   Catch::Contains("0.888889"));
}

TEST_CASE("compare draws its curves where it is asked to, whole or not at all") {
  const TemporaryFolder folder;
  const std::string file = (folder / "curves.svg").string();
  const std::string drawn = models + "four_state.json " + models + "ties.json --horizon 2 --plot ";
  const auto result = run_command("compare " + drawn + file);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(
      result.out ==
      run_command("compare " + models + "four_state.json " + models + "ties.json --horizon 2").out);
  const std::string svg = bytes_of(file);
  CHECK_THAT(svg, Catch::StartsWith("<svg") && Catch::EndsWith("</svg>\n") &&
                      Catch::Contains("four-state, T = 2, B = 1") &&
                      Catch::Contains("ties, T = 2"));
  check_refusal("compare " + drawn + (folder / "no/curves.svg").string(), "no/curves.svg");
}

TEST_CASE("compare prints the paper's ablations, and every number as a fraction") {
  const auto result =
      run_command("compare " + models + "four_state.json --horizon 2 --ablations --json");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out)["models"][0];
  CHECK(report["powers"] == "1,3,9");
  REQUIRE(report["ablations"].size() == 7);
  CHECK(report["ablations"][3]["ablation"] == "replicas");
  CHECK(report["ablations"][3]["rows"].size() == 5);
  CHECK(report["ablations"][2]["label"] == "tab:deo-adj");
  const auto table =
      run_command("compare " + models + "unequal_lengths.json --horizon 3 --ablations");
  CHECK(table.exit_code == 0);
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
  }
  CHECK_THAT(table.out, Catch::Contains("equi-accepting") && Catch::Contains("mean of 7"));
}

TEST_CASE("samplers are compared without local moves") {
  const auto compared = [](const std::string& counts) {
    const auto result =
        run_command("compare " + models + "four_state.json --horizon 2 --json " + counts);
    CAPTURE(counts, result.err);
    REQUIRE(result.exit_code == 0);
    json rows = json::parse(result.out)["models"][0]["samplers"];
    json chain;
    for (const json& row : rows)
      if (row["sampler"] == "uncoupled-ladder") chain = row;
    return std::pair(chain["tv_decimal"], chain["decode_tokens_decimal"]);
  };
  CHECK(compared("--rounds 2 --local-moves 0") == compared("--rounds 0"));
  CHECK(compared("--rounds 2 --local-moves 0") != compared("--rounds 2"));
}

TEST_CASE("the exact table fits a terminal, and what is not a comparison is refused") {
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
      {models + "ties.json " + models + "worked_sum",
       "is not a finite model (NAME.json); to compare samplers on problems, use tempera eval"},
      {models + "ties.json --powers 2,1", "--powers"},
      {models + "ties.json --powers 1,3/2 --horizon 3", "rational"},
      {models + "ties.json --powers 3 --ablations", "--powers: do not span a range"},
      {models + "ties.json --ablations --plot a.svg", "--plot: has no effect beside --ablations"},
      {models + "ties.json --answers z", "--answers: the answer \"z\" has the unknown token"},
  };
  for (const auto& [arguments, message] : refusals) check_refusal("compare " + arguments, message);
}

}  // namespace tempera::compare_exactly_test
