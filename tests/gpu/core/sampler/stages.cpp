#include "gpu/core/sampler/stages.hpp"

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {

TEST_CASE("stage m has the horizon min(mB, T)") {
  const auto stages = make_stages(10, 4, {3}, {1, 2, 5}, {0});
  REQUIRE(stages.size() == 3);
  CHECK(stages[0].horizon == 4);
  CHECK(stages[1].horizon == 8);
  CHECK(stages[2].horizon == 10);
  for (std::size_t m = 0; m < 3; ++m) {
    CHECK(stages[m].rounds == 3);
    CHECK(stages[m].local_moves == std::vector<std::size_t>{1, 2, 5}[m]);
    CHECK(stages[m].sweeps == 0);
  }
  CHECK(make_stages(3, 100, {1}, {1}, {1}).size() == 1);
  CHECK(make_stages(3, 100, {1}, {1}, {1})[0].horizon == 3);
}

TEST_CASE("stages that are none are refused") {
  require_bad_input([] { make_stages(0, 4, {1}, {1}, {1}); }, {"horizon: is 0"});
  require_bad_input([] { make_stages((1 << 20) + 1, 4, {1}, {1}, {1}); },
                    {"horizon: is 1048577", "at most 1048576"});
  require_bad_input([] { make_stages(4, 0, {1}, {1}, {1}); }, {"block: is 0"});
  require_bad_input(
      [] {
        make_stages(4, 2, {1, 2, 3}, {1}, {1});
      },
      {"rounds: 3 numbers for 2 stages"});
  require_bad_input(
      [] {
        make_stages(4, 1, {1}, {1, 2}, {1});
      },
      {"local moves: 2 numbers for 4 stages"});
  require_bad_input([] { make_stages(4, 2, {1}, {1}, {}); }, {"sweeps: 0 numbers for 2 stages"});
}

TEST_CASE("a plan that is cut has the stages that the lesser horizon makes") {
  law("cut_at is make_stages at the prompt's T, with the counts of its stages", [] {
    const auto horizon = *rc::gen::inRange<std::size_t>(1, 30);
    const auto block = *rc::gen::inRange<std::size_t>(1, 34);
    const auto own = *rc::gen::inRange<std::size_t>(1, horizon + 1);
    const auto counts_of = [&](std::size_t count) {
      return *rc::gen::container<std::vector<std::size_t>>(count,
                                                           rc::gen::inRange<std::size_t>(0, 9));
    };
    const std::size_t all = (horizon + block - 1) / block;
    const std::size_t kept = (own + block - 1) / block;
    std::vector<std::size_t> counts[3];
    for (auto& list : counts) list = counts_of(all);
    Plan plan{make_stages(horizon, block, counts[0], counts[1], counts[2]), Schedule::deo, 3, 5};
    plan.restart_range = RestartRange::record;
    const Plan cut = cut_at(plan, own, "here");
    for (auto& list : counts) list.resize(kept);
    const auto expected = make_stages(own, block, counts[0], counts[1], counts[2]);
    RC_ASSERT(cut.stages.size() == expected.size());
    for (std::size_t m = 0; m < expected.size(); ++m) {
      RC_ASSERT(cut.stages[m].horizon == expected[m].horizon);
      RC_ASSERT(cut.stages[m].rounds == expected[m].rounds);
      RC_ASSERT(cut.stages[m].local_moves == expected[m].local_moves);
      RC_ASSERT(cut.stages[m].sweeps == expected[m].sweeps);
    }
    RC_ASSERT(cut.schedule == Schedule::deo);
    RC_ASSERT(cut.output == 3U);
    RC_ASSERT(cut.particles == 5U);
    RC_ASSERT(cut.restart_range == RestartRange::record);
  });
  Plan plan{make_stages(10, 4, {3}, {1}, {1})};
  require_bad_input([&] { cut_at(plan, 0, "prompt 2"); },
                    {"prompt 2: has a horizon of 0; give 1 to 10 tokens"});
  require_bad_input([&] { cut_at(plan, 11, "prompt 2"); }, {"prompt 2: has a horizon of 11"});
  plan.restart_weights = {1, 2, 3};
  CHECK(cut_at(plan, 3, "prompt 2").restart_weights == plan.restart_weights);
  require_bad_input([&] { cut_at(plan, 2, "prompt 2"); },
                    {"prompt 2: restart weights are 3 for the 2 positions of its first stage"});
}

// After 2^24 turns the addresses of draws would begin again.
TEST_CASE(
    "a run that outgrows the addresses of its draws is refused, and one that fills them not") {
  const std::size_t half = std::size_t{1} << 23;
  CHECK(make_stages(std::size_t{1} << 20, 1 << 20, {1}, {1}, {1}).size() == 1);
  CHECK(make_stages(4, 2, {half}, {1}, {1}).size() == 2);
  CHECK(make_stages(4, 2, {half / 4}, {4}, {4}).size() == 2);
  CHECK(make_stages(4, 2, {2 * half, 0}, {1}, {1}).size() == 2);
  require_bad_input([&] { make_stages(4, 2, {half, half + 1}, {0}, {0}); }, {"rounds: ", "2^24"});
  require_bad_input([&] { make_stages(4, 2, {half}, {1, 2}, {1}); }, {"local moves: ", "2^24"});
  require_bad_input([&] { make_stages(4, 2, {half}, {1}, {2, 1}); }, {"sweeps: ", "2^24"});
  require_bad_input([] { make_stages(4, 2, {SIZE_MAX}, {SIZE_MAX}, {0}); }, {"rounds: ", "2^24"});
  require_bad_input([] { make_stages(4, 2, {1}, {SIZE_MAX}, {0}); }, {"local moves: ", "2^24"});
  CHECK(make_stages(4, SIZE_MAX, {0}, {SIZE_MAX}, {1}).at(0).horizon == 4);
}

}  // namespace tempera::gpu
