#include "reference/report/carried_report.hpp"

#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("laws of carried reports") {
  law("the report of a rung says what the one with a matrix says", [] {
    const FiniteModel model = random::model();
    const Power power = random::power();
    ExactQuestion asked;
    asked.horizon = random::horizon();
    asked.restart = random::restart(asked.horizon);
    const FixedHorizonSpace space(model, asked.horizon);
    asked.start = Start{space.name(random::between<std::size_t>(0, space.size() - 1))};
    asked.steps = 3;
    const RungReport dense = report_fixed_horizon(model, power, asked);
    const CarriedReport carried = report_carried(model, Ladder({power}), Schedule::adj, asked);
    RC_ASSERT(carried.states == dense.states);
    RC_ASSERT(carried.base == dense.base);
    RC_ASSERT(carried.target == dense.target);
    RC_ASSERT(carried.invariant == dense.verdict.invariant());
    RC_ASSERT(carried.reversible == dense.verdict.reversible());
    RC_ASSERT(carried.irreducible == dense.verdict.irreducible);
    RC_ASSERT(carried.total_variation == dense.total_variation);
  });
}

TEST_CASE("the report of a joint chain says what the one with matrices says") {
  const Schedule schedule = GENERATE(Schedule::adj, Schedule::deo);
  ExactQuestion asked;
  asked.horizon = 3;
  asked.start = Start{"a a e|e|a a a"};
  asked.steps = 4;
  const Ladder ladder = parse_ladder("1,2,4", "test");
  const JointReport dense = report_joint(four_state(), ladder, schedule, asked);
  const CarriedReport carried = report_carried(four_state(), ladder, schedule, asked);
  CHECK(carried.records == dense.records.size());
  CHECK(carried.invariant == dense.verdict.invariant());
  CHECK(carried.reversible == dense.verdict.reversible());
  CHECK(carried.irreducible == dense.verdict.irreducible);
  CHECK(carried.swap_acceptance == dense.swap_acceptance);
  CHECK(carried.total_variation == dense.total_variation);
  asked.start = Start{"a a e|e", "--start"};
  CHECK_THROWS_WITH(report_carried(four_state(), ladder, schedule, asked),
                    Catch::Contains("give one for each of the 3 rungs"));
}

TEST_CASE("a chain is carried from the first size that has no matrix") {
  CHECK_FALSE(is_carried(four_state(), 100, 1));
  CHECK_FALSE(is_carried(four_state(), 63, 2));
  CHECK(is_carried(four_state(), 64, 2));
  const FiniteModel coin({"coin", {{"a", "b"}, "coin"}, {}, {}, TokenRow{q("1/2"), q("1/2")}},
                         "coin");
  CHECK_FALSE(is_carried(coin, 10, 1));
  CHECK(is_carried(coin, 11, 1));
}
