#include "gpu/core/statistics/round_series.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

using nlohmann::json;
using Numbers = std::vector<double>;
using Counts = std::vector<std::size_t>;

Plan plan_of(const std::vector<std::size_t>& rounds) {
  Plan plan;
  for (std::size_t m = 0; m < rounds.size(); ++m) {
    Stage stage{};
    stage.horizon = m + 1;
    stage.rounds = rounds[m];
    plan.stages.push_back(stage);
  }
  return plan;
}

json reported(const RoundSeries& series) {
  nlohmann::ordered_json report = nlohmann::ordered_json::object();
  series.report(report);
  return report;
}

/// Log p0 and confidence of a run that tell apart its number, step and rung.
RoundSeries filled(std::size_t rungs, const std::vector<std::size_t>& rounds, double run) {
  RoundSeries series(rungs, plan_of(rounds));
  Counts replica_at(rungs);
  for (std::size_t k = 0; k < rungs; ++k) replica_at[k] = k;
  for (std::size_t m = 0; m < rounds.size(); ++m)
    for (std::size_t n = 0; n <= rounds[m]; ++n) {
      Numbers log_p0, confidence;
      for (std::size_t k = 0; k < rungs; ++k) {
        log_p0.push_back(-100.0 * run - 10.0 * static_cast<double>(m) - static_cast<double>(n) -
                         0.125 * static_cast<double>(k));
        confidence.push_back(0.5 * log_p0.back());
      }
      std::rotate(replica_at.begin(), replica_at.begin() + 1, replica_at.end());
      series.count(m, n, log_p0, confidence, replica_at);
    }
  return series;
}

}  // namespace

TEST_CASE("the series of a run are its own, and of two runs their means") {
  const std::vector<std::size_t> rounds{1, 2};
  RoundSeries all(2, plan_of(rounds));
  CHECK(reported(all) == json::object());
  all.add(filled(2, rounds, 1.0));
  const json one = reported(all);
  CHECK(one["rounds"]["stages"] == Counts{1, 1, 2, 2, 2});
  CHECK(one["rounds"]["rounds"] == Counts{0, 1, 0, 1, 2});
  CHECK(one["rounds"]["records"] == Counts{1, 1, 1, 1, 1});
  CHECK(one["rounds"]["mean_log_p0"] ==
        json{Numbers{-100.0, -101.0, -110.0, -111.0, -112.0},
             Numbers{-100.125, -101.125, -110.125, -111.125, -112.125}});
  CHECK(one["rounds"]["mean_confidence"][1] ==
        Numbers{-50.0625, -50.5625, -55.0625, -55.5625, -56.0625});
  CHECK(one["rounds"]["first_answer_replicas"] ==
        json{Counts{2, 1, 2, 1, 2}, Counts{1, 2, 1, 2, 1}});
  // Three rounds, an extension is none: replica 1 was at the lowest rung in two.
  CHECK(one["replica_rounds"] == json{Counts{2, 1}, Counts{1, 2}});

  RoundSeries other(2, plan_of(rounds));
  for (std::size_t n = 0; n < 2; ++n) other.count(0, n, Numbers{-7.0, -8.0}, {}, Counts{0, 1});
  all.add(filled(2, rounds, 3.0));
  all.add(other);  // cut short: of the first stage alone
  const json three = reported(all);
  CHECK(three["rounds"]["records"] == Counts{3, 3, 2, 2, 2});
  CHECK(three["rounds"]["mean_log_p0"][0][1] == (-101.0 - 301.0 - 7.0) / 3.0);
  CHECK(three["rounds"]["mean_log_p0"][0][4] == -212.0);
  CHECK(three["rounds"]["first_answer_replicas"] == one["rounds"]["first_answer_replicas"]);
  CHECK(three["replica_rounds"] == json{Counts{5, 2}, Counts{2, 5}});

  // The first run is the first one if it has ended, too.
  RoundSeries cut_first(2, plan_of(rounds));
  cut_first.add(other);
  cut_first.add(filled(2, rounds, 3.0));
  RoundSeries restored(2, plan_of(rounds));
  restored.restore(json::parse(cut_first.state().dump()));
  for (const RoundSeries* each : {&cut_first, &restored}) {
    const json two = reported(*each);
    CHECK(two["rounds"]["records"] == Counts{2, 2, 1, 1, 1});
    CHECK(two["rounds"]["mean_log_p0"][0][4] == -312.0);
    CHECK(two["rounds"]["first_answer_replicas"].dump() ==
          "[[1,1,null,null,null],[2,2,null,null,null]]");
  }
}

TEST_CASE("the particles of one power are taken together, and have no index process") {
  RoundSeries particles(1, plan_of({0, 0}));
  particles.count(0, 0, Numbers{-1.0, -2.0, -6.0}, {}, Counts{0});
  const json report = reported(particles);
  CHECK(report["rounds"]["records"] == Counts{3});
  CHECK(report["rounds"]["mean_log_p0"] == json{Numbers{-3.0}});
  CHECK(report.size() == 1);
  CHECK_FALSE(report["rounds"].contains("first_answer_replicas"));
  CHECK_FALSE(report["rounds"].contains("mean_confidence"));
}

TEST_CASE("however long a plan, the steps that are kept are few, evenly spread, and end it") {
  // 3001 steps of 4 rungs: every 12th, of 256 that there is room for.
  const json report = reported(filled(4, {2000, 999}, 1.0));
  const auto& rounds = report["rounds"];
  REQUIRE(rounds["rounds"].size() == 251);
  CHECK(rounds["stages"].back() == 2);
  CHECK(rounds["rounds"].back() == 999);
  CHECK(rounds["rounds"][249] == 987);
  CHECK(rounds["rounds"][0] == 0);
  CHECK(rounds["stages"][0] == 1);
  for (std::size_t i = 0; i < 251; ++i)
    CHECK(rounds["mean_log_p0"][3][i] == -100.375 - 10.0 * (rounds["stages"][i].get<double>() - 1) -
                                             rounds["rounds"][i].get<double>());
  // All rounds are counted, also those of steps that are not kept.
  for (const json& replica : report["replica_rounds"]) {
    std::size_t sum = 0;
    for (const json& count : replica) sum += count.get<std::size_t>();
    CHECK(sum == 2999);
  }
  // 33 rungs: one number too many to count their replicas.
  CHECK(reported(filled(32, {2}, 1.0)).contains("replica_rounds"));
  CHECK_FALSE(reported(filled(33, {2}, 1.0)).contains("replica_rounds"));
  const json wide = reported(filled(1025, {2}, 1.0));
  CHECK(wide["rounds"]["rounds"] == Counts{2});
}

TEST_CASE("a step beyond the plan is not counted, and without a plan none is") {
  RoundSeries series(2, plan_of({1}));
  const Numbers log_p0{-1.0, -2.0};
  series.count(0, 2, log_p0, {}, Counts{0, 1});
  series.count(1, 0, log_p0, {}, Counts{0, 1});
  CHECK(reported(series) == json::object());
  RoundSeries none(2, Plan{});
  none.count(0, 0, log_p0, {}, Counts{0, 1});
  none.add(none);
  CHECK(reported(none) == json::object());
}

TEST_CASE("a checkpoint gives the series back, to go on with the same bits") {
  const std::vector<std::size_t> rounds{2, 1};
  RoundSeries series(3, plan_of(rounds));
  series.add(filled(3, rounds, 0.1));
  RoundSeries restored(3, plan_of(rounds));
  restored.restore(json::parse(series.state().dump()));
  CHECK(reported(restored) == reported(series));
  for (RoundSeries* each : {&series, &restored}) each->add(filled(3, rounds, 0.3));
  CHECK(restored.state() == series.state());
  CHECK(reported(restored) == reported(series));
  // In the middle of a run.
  RoundSeries begun(2, plan_of(rounds));
  begun.count(0, 0, Numbers{-0.1, -0.2}, Numbers{-0.3, -0.7}, Counts{1, 0});
  RoundSeries taken_up(2, plan_of(rounds));
  taken_up.restore(json::parse(begun.state().dump()));
  for (RoundSeries* each : {&begun, &taken_up})
    each->count(0, 1, Numbers{-0.7, -0.1}, Numbers{-0.3, -0.9}, Counts{0, 1});
  CHECK(reported(taken_up) == reported(begun));
  CHECK(reported(begun)["rounds"]["records"] == Counts{1, 1});
}

// The means of the whole run and of each prompt, from what events.jsonl says of every round.
TEST_CASE("the series of a run's summary are those of its events") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a", {7, 8, 9}}, {"b", {4}}};
  settings.powers = {1.0, 2.0, 3.5};
  settings.output = 3;
  settings.rounds = {3, 4};
  settings.samples = 2;
  settings.options.confidence = true;
  begin_run(*model, settings, work / "run");
  const Left left(work / "run");
  std::vector<json> rounds;
  std::istringstream lines(left.events);
  for (std::string line; std::getline(lines, line);)
    if (json event = json::parse(line); event["kind"] == "round")
      rounds.push_back(std::move(event));
  constexpr std::size_t steps = 9;
  REQUIRE(rounds.size() == 4 * steps);
  bool has_moved = false;
  const auto check = [&](const json& report, std::size_t first, std::size_t runs) {
    const json& series = report["rounds"];
    REQUIRE(series["rounds"].size() == steps);
    std::vector<Counts> replica_rounds(3, Counts(3, 0));
    for (std::size_t i = 0; i < steps; ++i) {
      const json& of_first = rounds[first * steps + i];
      CHECK(series["stages"][i] == of_first["stage"]);
      CHECK(series["rounds"][i] == of_first["round"]);
      CHECK(series["records"][i] == runs);
      for (std::size_t k = 0; k < 3; ++k) {
        double log_p0 = 0.0;
        double confidence = 0.0;
        for (std::size_t run = first; run < first + runs; ++run) {
          const json& round = rounds[run * steps + i];
          log_p0 += round["log_p0"][k].get<double>();
          confidence += round["confidence"][k].get<double>();
          if (round["round"] != 0) ++replica_rounds[round["replicas"][k].get<std::size_t>() - 1][k];
        }
        CHECK(series["mean_log_p0"][k][i] == log_p0 / static_cast<double>(runs));
        CHECK(series["mean_confidence"][k][i] == confidence / static_cast<double>(runs));
        CHECK(series["first_answer_replicas"][k][i] == of_first["replicas"][k]);
        has_moved = has_moved || of_first["replicas"][k] != k + 1;
      }
    }
    CHECK(report["replica_rounds"] == json(replica_rounds));
  };
  const json summary = json::parse(left.summary);
  check(summary, 0, 4);
  check(summary["prompts"][0], 0, 2);
  check(summary["prompts"][1], 2, 2);
  CHECK(has_moved);
}

}  // namespace tempera::gpu
