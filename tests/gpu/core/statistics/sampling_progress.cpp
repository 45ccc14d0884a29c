#include "gpu/core/statistics/sampling_progress.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace tempera::gpu {

// Stages of horizon 2, 4, 5 with 1, 1 and 3 rounds: 2·2 + 2·4 + 4·5 = 32 parts of work.
TEST_CASE("the share done counts a stage's extension and rounds by their horizon") {
  const Plan plan{make_stages(5, 2, {1, 1, 3}, {1}, {1}), Schedule::adj, 0};
  Progress progress;
  CHECK(share_done(plan, progress) == 0.0);
  progress.extended = true;
  CHECK(share_done(plan, progress) == 2.0 / 32.0);
  progress.round = 1;
  CHECK(share_done(plan, progress) == 4.0 / 32.0);
  progress.stage = 1;
  progress.round = 0;
  CHECK(share_done(plan, progress) == 8.0 / 32.0);
  progress.extended = false;
  CHECK(share_done(plan, progress) == 4.0 / 32.0);
  progress = {{2, true, 3, 0, 0}};
  CHECK(share_done(plan, progress) == 1.0);
}

TEST_CASE("acceptances are over all rungs and all edges, and 0 before there is any") {
  TemperingStatistics statistics{Ladder({1.0, 2.0})};
  SamplingProgress progress = sampling_progress(0.25, 7, statistics);
  CHECK(progress.done == 0.25);
  CHECK(progress.decode_tokens == 7);
  CHECK(progress.acceptance == 0.0);
  CHECK(progress.swap_acceptance == 0.0);
  const Event accepted{.rung = 0, .tokens = 1, .proposed = true, .accepted = true};
  const Event rejected{.rung = 1, .tokens = 1, .proposed = true};
  const Event unproposed{.rung = 1};
  const Event swapped{.kind = Event::Kind::swap, .proposed = true, .accepted = true};
  statistics.count(std::vector<Event>{accepted, rejected, rejected, rejected, unproposed, swapped});
  progress = sampling_progress(0.5, 8, statistics);
  CHECK(progress.acceptance == 0.25);
  CHECK(progress.swap_acceptance == 1.0);
}

TEST_CASE("the line tells time left, tokens a second and acceptance") {
  CHECK(to_line({0.25, 3000, 0.5, 0.125}, 10.0) ==
        " 25 %  30 s left  3000 tokens, 300 tokens/s  accepted: moves 0.50, swaps 0.12");
  CHECK(to_line({}, 0.0) == "  0 %  0 tokens, 0 tokens/s  accepted: moves 0.00, swaps 0.00");
}

TEST_CASE("there is no estimate before there is ground for one") {
  CHECK_FALSE(seconds_left(0.0, 0.0));
  CHECK_FALSE(seconds_left(0.5, 2.9));
  CHECK_FALSE(seconds_left(0.04, 100.0));
  CHECK(seconds_left(0.5, 3.0) == 3.0);
  CHECK(std::abs(*seconds_left(0.05, 10.0) - 190.0) < 1e-9);
  CHECK(seconds_left(1.0, 10.0) == 0.0);
}

TEST_CASE("a report is due at once and then not again at once") {
  ReportClock clock;
  CHECK(clock.due());
  CHECK_FALSE(clock.due());
}

}  // namespace tempera::gpu
