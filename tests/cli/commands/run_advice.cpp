#include "cli/commands/run_advice.hpp"

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::ordered_json;
using namespace tempera::test;

namespace {

/// A run of three rungs that needs no advice.
ordered_json good_run() {
  ordered_json summary{{"samples", 8},
                       {"at_horizon", 0},
                       {"round_trips", 30},
                       {"round_trips_expected", 31.5},
                       {"sweeps_per_round_trip_expected", 7.25}};
  for (int k = 0; k < 3; ++k) summary["rungs"].push_back({{"proposed", 100}, {"acceptance", 0.4}});
  for (int k = 0; k < 2; ++k)
    summary["edges"].push_back(
        {{"powers", {k + 1.0, k + 2.0}}, {"attempts", 90}, {"acceptance", 0.5 - 0.1 * k}});
  return summary;
}

std::string advice_on(const std::function<void(ordered_json&)>& edit) {
  ordered_json summary = good_run();
  edit(summary);
  return tempera::cli::run_advice(summary, {});
}

}  // namespace

TEST_CASE("a good run is said to be one, with its figures") {
  const std::string said = tempera::cli::run_advice(good_run(), {});
  CHECK(said ==
        "how good the run was: nothing to change\n"
        "  no answer was cut: each ended before the horizon\n"
        "  the weakest edge, of powers 2 and 3, accepted 0.40 of its swaps\n"
        "  round trips: 30, where the swaps that were accepted promise 31.5\n"
        "  the last rung accepted 0.40 of its local moves\n");
}

TEST_CASE("exact draws are not advised as the moves of a chain are") {
  const auto draws = [](ordered_json& run) {
    run["edges"] = ordered_json::array();
    run["rungs"] = {{{"proposed", 9000}, {"acceptance", 0.001}}};
  };
  CHECK_THAT(advice_on(draws), Catch::Contains("-> lower its power"));
  const std::string exact =
      "how good the run was: nothing to change\n"
      "  no answer was cut: each ended before the horizon\n";
  CHECK(advice_on([&](ordered_json& run) {
          draws(run);
          run["log_z"] = {{"estimate", -6.9}};
        }) == exact);
  CHECK(advice_on([&](ordered_json& run) {
          draws(run);
          run["prompts"] = {{{"id", "a"}}, {{"id", "b"}, {"log_z", {{"estimate", -6.9}}}}};
        }) == exact);
}

TEST_CASE("each weakness of a run has a line of advice") {
  const auto has = [](const std::string& said, const std::string& advice) {
    CAPTURE(said);
    CHECK(said.starts_with("how good the run was: what to change follows ->\n"));
    CHECK_THAT(said, Catch::Contains("\n  -> ") && Catch::Contains(advice));
    CHECK(said.find("\n  -> ") == said.rfind("\n  -> "));
  };
  has(advice_on([](ordered_json& run) { run["at_horizon"] = 3; }), "-> raise --horizon");
  has(advice_on([](ordered_json& run) { run["edges"][0]["acceptance"] = 0.05; }),
      "of powers 1 and 2, accepted 0.05 of its swaps\n  -> bring these powers closer");
  has(advice_on([](ordered_json& run) {
        run["edges"][0]["acceptance"] = 0.0;
        run.erase("round_trips_expected");
      }),
      "rungs 1 and 2, of powers 1 and 2, exchanged no record\n  -> put a power between");
  has(advice_on([](ordered_json& run) {
        run["round_trips"] = 0;
        run["round_trips_expected"] = 0.4;
      }),
      "-> the run is short: a round trip takes 7.25 sweeps; give more --rounds");
  has(advice_on([](ordered_json& run) { run["round_trips"] = 12; }), "give more --local-moves");
  has(advice_on([](ordered_json& run) { run["rungs"][2]["acceptance"] = 0.01; }),
      "-> lower its power");
  // Too few are expected for their number to say something.
  CHECK_THAT(advice_on([](ordered_json& run) {
               run["round_trips"] = 1;
               run["round_trips_expected"] = 4.0;
             }),
             Catch::Contains("nothing to change"));
}

TEST_CASE("chains of the last rung that differ have a line of advice, alone and others have none") {
  using tempera::gpu::RungDiagnostics;
  const auto chains = [](double last, double first, std::size_t count) {
    std::vector<RungDiagnostics> found(4);
    for (std::size_t i = 0; i < 4; ++i) {
      found[i].prompt = i / 2;
      found[i].rung = 1 + i % 2;
      found[i].chains = count;
      found[i].log_p0.r_hat = i % 2 == 1 ? 1.0 : first;
    }
    found[1].length.r_hat = last;
    return found;
  };
  const auto said = [](const std::vector<RungDiagnostics>& found) {
    return tempera::cli::run_advice(good_run(), found);
  };
  CHECK_THAT(
      said(chains(1.25, 1.0, 2)),
      Catch::Contains(
          "the chains of the last rung have an R-hat of 1.25\n  -> the chains still differ"));
  CHECK_THAT(said(chains(1.1, 3.0, 2)),
             Catch::Contains("R-hat of 1.1\n") && Catch::Contains("nothing to change"));
  CHECK(said(chains(1.25, 1.0, 1)) == said({}));
}

TEST_CASE("every sampler's summary says how good the run was") {
  const std::string base = "sample '4+7?' --model " TEMPERA_SOURCE_DIR
                           "/toy_models/worked_sum --horizon 8 --summary --sampler ";
  for (const char* sampler : {"ppt", "ppt --powers 2", "ppt --rounds 0", "power-smc", "best-of-n",
                              "power-sampling", "low-temperature"}) {
    CAPTURE(sampler);
    const auto shown = run_command(base + sampler);
    CAPTURE(shown.err);
    CHECK(shown.exit_code == 0);
    CHECK_THAT(shown.out, Catch::Contains("\nhow good the run was: "));
  }
}
