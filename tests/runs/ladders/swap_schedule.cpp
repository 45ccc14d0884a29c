#include "runs/ladders/swap_schedule.hpp"

#include "gpu/core/model/table_model.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/naive_run.hpp"

namespace tempera::gpu::swap_schedule_test {
namespace {

EdgeCounts edge(std::uint64_t attempts, std::uint64_t accepted) {
  EdgeCounts counts;
  counts.attempts = attempts;
  counts.accepted = accepted;
  return counts;
}

ScheduleChoice choice(double adj_seconds, double deo_seconds, std::vector<EdgeCounts> adj,
                      std::vector<EdgeCounts> deo) {
  return {{adj_seconds, std::move(adj)}, {deo_seconds, std::move(deo)}};
}

}  // namespace

// R = 1 + 3 = 4 on three rungs: 15 iterations under ADJ, 30 under DEO.
TEST_CASE("expected round trips a second are the paper's formula over the seconds") {
  const std::vector<EdgeCounts> edges{edge(8, 4), edge(12, 3)};
  const ScheduleChoice both = choice(0.5, 0.125, edges, edges);
  CHECK(*both.adj.round_trips_per_second(Schedule::adj) == Approx(1.0 / (15 * 0.5)));
  CHECK(*both.deo.round_trips_per_second(Schedule::deo) == Approx(1.0 / (30 * 0.125)));
}

TEST_CASE("DEO is recommended just where ADJ takes more than twice its seconds") {
  const std::vector<EdgeCounts> edges{edge(8, 4), edge(12, 3)};
  CHECK(choice(1.0, 0.5, edges, edges).recommended() == Schedule::adj);
  CHECK(choice(1.0, 0.51, edges, edges).recommended() == Schedule::adj);
  CHECK(choice(1.0, 0.49, edges, edges).recommended() == Schedule::deo);
  // Acceptances of their own count too: with R = 1 under DEO it needs 12 iterations, not 30.
  const std::vector<EdgeCounts> better{edge(8, 4), edge(12, 12)};
  CHECK(choice(1.0, 1.2, edges, better).recommended() == Schedule::deo);
  CHECK(choice(1.0, 1.3, edges, better).recommended() == Schedule::adj);
  // Nothing is known of an edge that accepts nothing.
  const std::vector<EdgeCounts> closed{edge(8, 4), edge(12, 0)};
  CHECK_FALSE(choice(1.0, 0.1, edges, closed).deo.round_trips_per_second(Schedule::deo));
  CHECK(choice(1.0, 0.1, edges, closed).recommended() == Schedule::adj);
}

// What the two pilots exchange is what a naive replay at their addresses does, so they are pilots
// of their own and each runs its schedule.
TEST_CASE("the pilots of both schedules draw at addresses of their own") {
  const auto row = [](std::span<const TokenId> prefix) {
    return std::vector<float>{prefix.size() % 3 == 0 ? 1.25F : 2.5F, 0.0F, -30.0F};
  };
  TableModel model(3, row);
  CalibrationSettings settings;
  settings.plan = {make_stages(6, 6, {9}, {1}, {1}), Schedule::adj, 2};
  settings.terminal = {2};
  settings.seed = 5;
  settings.samples = 3;
  const std::vector<Prompt> prompts{{{1, 0}, {4, 0}}};
  const std::vector<double> powers{0.5, 1.5, 4.0};
  const ScheduleChoice measured = measure_schedules(model, prompts, settings, powers, 7);
  for (const Schedule schedule : {Schedule::adj, Schedule::deo}) {
    std::vector<std::uint64_t> attempts(2), accepted(2);
    for (std::size_t sample = 0; sample < settings.samples; ++sample) {
      naive::Question asked;
      asked.row = row;
      asked.prompt = prompts[0].tokens;
      asked.terminal = settings.terminal;
      asked.powers = powers;
      asked.horizons = {6};
      asked.rounds = {9};
      asked.moves = {1};
      asked.sweeps = {1};
      asked.seed = naive::seed_of(settings.seed, {4, 0});
      asked.prompt_number = 4;
      asked.sample = sample;
      asked.pilot = schedule == Schedule::adj ? 8 : 9;
      asked.deo = schedule == Schedule::deo;
      const naive::Chain run(asked);
      for (const naive::Moment& moment : run.moments)
        for (const Event& event : moment.events) {
          if (event.kind != Event::Kind::swap) continue;
          ++attempts[event.rung];
          accepted[event.rung] += event.accepted ? 1 : 0;
        }
    }
    const MeasuredSchedule& of = schedule == Schedule::adj ? measured.adj : measured.deo;
    CHECK(of.seconds > 0.0);
    for (std::size_t k = 0; k < 2; ++k) {
      CHECK(of.edges[k].attempts == attempts[k]);
      CHECK(of.edges[k].accepted == accepted[k]);
    }
  }
}

}  // namespace tempera::gpu::swap_schedule_test
