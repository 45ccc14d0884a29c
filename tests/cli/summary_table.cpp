#include "cli/summary_table.hpp"

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

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

TEST_CASE("a ladder without sweeps has no swaps, and one rung no edge") {
  CHECK_THAT(run_command(sampling + "--sweeps 0 --summary").out, Catch::Contains("none"));
  const auto single = run_command(base + "--powers 4 --summary");
  CHECK(single.exit_code == 0);
  CHECK_THAT(single.out, Catch::Contains("\n     1       4"));
}
