#include "cli/commands/summary_table.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::summary_table_test {

using namespace tempera::test;

namespace {

const std::string base = "sample '4+7?' --model " TEMPERA_SOURCE_DIR
                         "/toy_models/worked_sum --horizon 28 --block 14 "
                         "--rounds 3 --seed 2 ";
const std::string sampling = base + "--powers 1,4 ";

}  // namespace

TEST_CASE("sample --summary prints what --json holds, after the answers") {
  const auto table = run_command(sampling + "--summary");
  CAPTURE(table.out, table.err);
  REQUIRE(table.exit_code == 0);
  const std::string answers = run_command(sampling).out;
  CHECK(table.out.rfind(answers + "\n", 0) == 0);
  const auto summary = nlohmann::json::parse(run_command(sampling + "--json").out).at("summary");
  CHECK_THAT(table.out,
             Catch::Contains("answers: 1; decode tokens: " + summary["decode_tokens"].dump() +
                             "; round trips: " + summary["round_trips"].dump()));
  // The sharpest rung comes first; the lowest has no rung below it.
  const auto sharpest = table.out.find("\n     2       4");
  const auto lowest = table.out.find("\n     1       1");
  REQUIRE(sharpest != std::string::npos);
  REQUIRE(lowest != std::string::npos);
  CHECK(sharpest < lowest);
  const auto bars = [&](std::size_t from) {
    const std::string line = table.out.substr(from + 1, table.out.find('\n', from + 1) - from - 1);
    return std::count(line.begin(), line.end(), '|') / 2;
  };
  CHECK(bars(sharpest) == 2);
  CHECK(bars(lowest) == 1);
  CHECK_THAT(table.out, Catch::Contains("  rung  log p0: mean\n     2 "));
  // The words of the paper are explained after the table that has them.
  for (const char* explained : {"\nlog Z ratio: ", "\nsaved at most: ", "\nindex process: "})
    CHECK_THAT(table.out, Catch::Contains(explained));
  std::istringstream lines(table.out.substr(answers.size()));
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
}

TEST_CASE("the confidence of the records is shown where it is measured") {
  const TemporaryFolder folder;
  const auto shown =
      run_command(sampling + "--summary --confidence --out " + (folder / "run").string());
  REQUIRE(shown.exit_code == 0);
  const auto summary = nlohmann::json::parse(bytes_of((folder / "run/summary.json").string()));
  char line[80];
  std::snprintf(line, sizeof line, "\n     1 %13.4g %16.4g\n",
                summary["rungs"][0]["mean_log_p0"].get<double>(),
                summary["rungs"][0]["mean_confidence"].get<double>());
  CHECK_THAT(shown.out, Catch::Contains("log p0: mean confidence: mean\n     2 "));
  CHECK_THAT(shown.out, Catch::Contains(line));
}

TEST_CASE("the confidence needs no run folder where the summary is asked for") {
  const auto summary =
      nlohmann::json::parse(run_command(sampling + "--confidence --json").out).at("summary");
  const auto shown = run_command(sampling + "--summary --confidence");
  REQUIRE(shown.exit_code == 0);
  char line[80];
  std::snprintf(line, sizeof line, "\n     1 %13.4g %16.4g\n",
                summary["rungs"][0]["mean_log_p0"].get<double>(),
                summary["rungs"][0]["mean_confidence"].get<double>());
  CHECK_THAT(shown.out, Catch::Contains(line));
}

TEST_CASE("log p0, confidence and the index process are shown after some of the rounds") {
  const auto summary =
      nlohmann::json::parse(run_command(sampling + "--confidence --json").out).at("summary");
  const auto shown = run_command(sampling + "--summary --confidence");
  REQUIRE(shown.exit_code == 0);
  // Two stages of an extension and three rounds each: all eight have room.
  const auto& rounds = summary.at("rounds");
  REQUIRE(rounds["rounds"].size() == 8);
  std::string width = "\n      ";
  for (const char* heading : {"1.0", "1.1", "1.2", "1.3", "2.0", "2.1", "2.2", "2.3"})
    width += std::string("       ") + heading;
  const auto line = [](std::size_t rung, const nlohmann::json& list) {
    char cell[32];
    std::string text = "     " + std::to_string(rung);
    for (const auto& value : list) {
      std::snprintf(cell, sizeof cell, " %9.4g", value.get<double>());
      text += cell;
    }
    return text + '\n';
  };
  for (const auto& [title, figure] :
       {std::pair{"log p0: mean over answers", "mean_log_p0"},
        std::pair{"confidence: mean over answers", "mean_confidence"},
        std::pair{"index process of the first answer: replica", "first_answer_replicas"}})
    CHECK_THAT(shown.out,
               Catch::Contains("  rung  " + std::string(title) + ", after stage.round" + width +
                               '\n' + line(2, rounds[figure][1]) + line(1, rounds[figure][0])));
  const auto& visits = summary.at("replica_rounds");
  CHECK_THAT(shown.out, Catch::Contains(line(2, {visits[0][1], visits[1][1]}) +
                                        line(1, {visits[0][0], visits[1][0]})));
  // More rounds than there is room for: nine of them, the last among them.
  std::string longer = sampling;
  longer.replace(longer.find("--rounds 3"), 10, "--rounds 19");
  const auto many = run_command(longer + "--summary");
  CHECK_THAT(many.out, Catch::Contains("      2.14      2.19\n"));
}

TEST_CASE("each prompt has a line, and what is left out is said") {
  std::string lines;
  for (int i = 1; i <= 22; ++i)
    lines += R"({"id":"sum )" + std::to_string(i) +
             (i == 2 ? R"(, a name longer than its column","prompt":"4+7?"})"
                     : R"(","prompt":"4+7?"})") +
             '\n';
  const TemporaryFile prompts(lines);
  const std::string many = "sample --prompts " + prompts.path() +
                           " --model " TEMPERA_SOURCE_DIR
                           "/toy_models/worked_sum --horizon 8 --powers 1,4 --samples 2 ";
  const auto summary = nlohmann::json::parse(run_command(many + "--json").out).at("summary");
  const auto shown = run_command(many + "--summary");
  REQUIRE(shown.exit_code == 0);
  const auto& prompt = summary.at("prompts").at(0);
  double proposed = 0.0;
  double accepted = 0.0;
  for (const auto& rung : prompt.at("rungs")) {
    proposed += rung.at("proposed").get<double>();
    accepted += rung.at("accepted").get<double>();
  }
  const auto& edge = prompt.at("edges").at(0);
  char expected[16] = "-";
  if (prompt.contains("round_trips_expected"))
    std::snprintf(expected, sizeof expected, "%.3g", prompt["round_trips_expected"].get<double>());
  char line[120];
  std::snprintf(
      line, sizeof line, "\nsum 1                  %7d %9d %5.2f %5.2f %6d %8s %10.4g %10s %5.2f\n",
      2, prompt["decode_tokens"].get<int>(), accepted / proposed, edge["acceptance"].get<double>(),
      prompt["round_trips"].get<int>(), expected, prompt["rungs"][1]["mean_log_p0"].get<double>(),
      "-", prompt["at_horizon"].get<double>() / 2.0);
  CHECK_THAT(shown.out, Catch::Contains(line));
  CHECK_THAT(shown.out, Catch::Contains("\nsum 2, a name longe...  "));
  CHECK_THAT(shown.out, Catch::Contains("\nsum 20 ") && !Catch::Contains("\nsum 21 "));
  CHECK_THAT(shown.out, Catch::Contains("\nand 2 more prompts: in summary.json"));
  // One prompt without an id is the run itself.
  CHECK_THAT(run_command(sampling + "--summary").out, !Catch::Contains("prompt "));
}

TEST_CASE("the speed of a finished run is printed again, of all its processes") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const auto first = run_command(sampling + "--summary --out " + run);
  REQUIRE(first.exit_code == 0);
  const auto speed_from = [](const std::string& out) { return out.substr(out.find("\nspeed: ")); };
  CHECK(speed_from(run_command("sample --summary --resume " + run).out) == speed_from(first.out));
  auto speed = nlohmann::json::parse(bytes_of(run + "/speed.json"));
  speed["processes"] = 3;
  std::ofstream(run + "/speed.json") << speed.dump();
  CHECK_THAT(run_command("sample --summary --resume " + run).out,
             Catch::Contains(" s of 3 processes; caches: "));
  std::filesystem::remove(run + "/speed.json");
  CHECK_THAT(run_command("sample --summary --resume " + run).out, !Catch::Contains("speed: "));
}

TEST_CASE("a ladder without sweeps has no swaps, and one rung no edge") {
  CHECK_THAT(run_command(sampling + "--sweeps 0 --summary").out, Catch::Contains("none"));
  const auto single = run_command(base + "--powers 4 --summary");
  CHECK(single.exit_code == 0);
  CHECK_THAT(single.out, Catch::Contains("\n     1       4"));
}

}  // namespace tempera::summary_table_test
