#include "gpu/core/sampler/truncating_move.hpp"

#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::truncating_move_test {
namespace {

const Context context{{3, 4}, {0, 1}};

}  // namespace

TEST_CASE("a truncating move may shorten a record and never lengthens it") {
  std::size_t shortened = 0;
  law("any seed's chain", [&] {
    TableModel model = scattered_table(5, *rc::gen::arbitrary<std::uint64_t>());
    PhiloxLottery lottery;
    SmallRun small(model, context, {2.0}, lottery, *rc::gen::arbitrary<std::uint64_t>());
    Record x = small.scored(6, {2, 3, 4, 2, 3, 4});
    for (std::size_t number = 0; number < 10; ++number) {
      const std::size_t length = x.length();
      small.finish(truncating_move(x, small.turn(0, number)));
      const Event& event = small.run.events.back();
      RC_ASSERT(event.proposed);
      RC_ASSERT(event.restart >= 1U && event.restart <= length);
      RC_ASSERT(x.length() <= length);
      RC_ASSERT(x.horizon() == 6U);
      RC_ASSERT(same_record(x, small.scored(6, x.token_ids())));
      if (x.length() < length) ++shortened;
    }
  });
  CHECK(shortened > 0);
}

TEST_CASE("a truncating move cuts the current scores at the candidate's end") {
  TableModel model = scattered_table(5, 3);
  TapeLottery tape({1, 0, 0});  // r = 2, then a terminal token, accepted
  SmallRun small(model, context, {2.0}, tape);
  const Record x = small.scored(6, {2, 3, 4, 2});
  Record moved = x.copy();
  small.finish(truncating_move(moved, small.turn(0)));
  CHECK(tape.at_end());
  CHECK(same_record(moved, small.scored(6, {2, 0})));
  CHECK(small.run.events.at(0).log_ratio == moved.tokens().log_z(2)[0] - x.tokens().log_z(2)[0]);
}

TEST_CASE("the truncating sampler stops with the first stage that ends in a terminated record") {
  TableModel model = scattered_table(5, 3);
  std::size_t stopped = 0;
  std::size_t ran_through = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    PhiloxLottery lottery;
    SmallRun small(model, context, {1.0}, lottery, seed);
    const Plan plan{make_stages(6, 2, {2}, {1}, {0}), Schedule::adj, 0};
    Progress progress;
    small.finish(truncating_power_sampling(small.run, plan, progress));
    const Record& record = progress.replicas.front();
    CHECK(record.terminated() == (progress.stage < 3));
    if (progress.stage < 3) CHECK(record.length() <= plan.stages[progress.stage].horizon);
    ++(record.terminated() ? stopped : ran_through);
  }
  CHECK(stopped > 0);
  CHECK(ran_through > 0);
}

}  // namespace tempera::gpu::truncating_move_test
