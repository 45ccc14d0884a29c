#include "reference/report/exact_report.hpp"

#include "base/error.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

namespace {

const Power two{Rational(2)};

ExactQuestion asked(std::size_t horizon, const char* start = nullptr, std::size_t steps = 10) {
  ExactQuestion question;
  question.horizon = horizon;
  if (start) question.start = {start, "--start"};
  question.steps = steps;
  return question;
}

}  // namespace

TEST_CASE("the fixed-horizon report holds the paper's four-state numbers") {
  const RungReport report = report_fixed_horizon(four_state(), two, asked(2, "a e", 3));
  CHECK(report.states == std::vector<std::string>{"a a", "a e", "e"});
  CHECK(report.base == Law{q("1/4"), q("1/4"), q("1/2")});
  CHECK(report.target == Law{q("1/6"), q("1/6"), q("2/3")});
  CHECK(report.kernel == matrix_of({{q("3/8"), q("3/8"), q("1/4")},
                                    {q("3/8"), q("3/8"), q("1/4")},
                                    {q("1/16"), q("1/16"), q("7/8")}}));
  CHECK(report.verdict.invariant());
  CHECK(report.verdict.reversible());
  CHECK(report.verdict.irreducible);
  REQUIRE(report.total_variation.size() == 4);
  for (unsigned n = 0; n < 4; ++n) CHECK(report.total_variation[n] == four_state_fixed_tv(n));
}

TEST_CASE("the truncating report finds the structural bias") {
  const RungReport report = report_truncating(four_state(), two, asked(2, "a a", 10));
  CHECK(report.states == std::vector<std::string>{"a", "a a", "a e", "e"});
  CHECK(report.target == Law{0, q("1/6"), q("1/6"), q("2/3")});
  REQUIRE(report.verdict.moved);
  CHECK(report.verdict.moved->state == "a");
  CHECK(report.verdict.moved->after == q("1/3"));
  CHECK_FALSE(report.verdict.reversible());
  CHECK_FALSE(report.verdict.irreducible);
  for (unsigned n = 0; n <= 10; ++n)
    CHECK(report.total_variation[n] == four_state_truncating_tv(n));
}

TEST_CASE("the truncating report without a matrix is the one with it") {
  law("verdicts, counterexamples and curves", [] {
    const FiniteModel model = random::model();
    ExactQuestion question = asked(random::between<std::size_t>(1, 3), nullptr, 3);
    const ComparisonSpace space(model, question.horizon);
    const auto start = random::between<std::size_t>(0, space.size() - 1);
    question.start = {space.name(start), "--start"};
    const RungReport dense = report_truncating(model, two, question);
    const RungReport carried = report_carried_truncating(model, two, question);
    CHECK(carried.kernel.rows() == 0);
    CHECK(carried.states == dense.states);
    CHECK(carried.base == dense.base);
    CHECK(carried.target == dense.target);
    CHECK(carried.total_variation == dense.total_variation);
    CHECK(carried.verdict.irreducible == dense.verdict.irreducible);
    REQUIRE(carried.verdict.invariant() == dense.verdict.invariant());
    if (dense.verdict.moved) {
      CHECK(carried.verdict.moved->state == dense.verdict.moved->state);
      CHECK(carried.verdict.moved->before == dense.verdict.moved->before);
      CHECK(carried.verdict.moved->after == dense.verdict.moved->after);
    }
    REQUIRE(carried.verdict.reversible() == dense.verdict.reversible());
    if (dense.verdict.unbalanced) {
      CHECK(carried.verdict.unbalanced->from == dense.verdict.unbalanced->from);
      CHECK(carried.verdict.unbalanced->to == dense.verdict.unbalanced->to);
      CHECK(carried.verdict.unbalanced->forward_flow == dense.verdict.unbalanced->forward_flow);
      CHECK(carried.verdict.unbalanced->reverse_flow == dense.verdict.unbalanced->reverse_flow);
    }
  });
}

TEST_CASE("a restart law is taken where one is given") {
  ExactQuestion question = asked(2);
  question.restart = RestartLaw({0, 1});
  const RungReport report = report_fixed_horizon(four_state(), two, question);
  CHECK(report.kernel(2, 2) == 1);
  CHECK_FALSE(report.verdict.irreducible);
  question.restart.reset();
  CHECK(report_fixed_horizon(four_state(), two, question).kernel(2, 2) == q("7/8"));
}

TEST_CASE("without a start there is no curve, with one it has N + 1 points") {
  CHECK(report_fixed_horizon(four_state(), two, asked(2)).total_variation.empty());
  CHECK(report_fixed_horizon(four_state(), two, asked(2, "e", 0)).total_variation ==
        std::vector<Rational>{q("1/3")});
  const Ladder ladder = parse_ladder("1,2", "test");
  CHECK(report_joint(four_state(), ladder, Schedule::adj, asked(2)).total_variation.empty());
  CHECK(report_joint(four_state(), ladder, Schedule::deo, asked(2, "e|e", 5))
            .total_variation.size() == 6);
}

TEST_CASE("a start that is not a record is refused by the name it was given") {
  CHECK_THROWS_WITH(report_fixed_horizon(four_state(), two, asked(2, "z")),
                    Catch::StartsWith("--start: "));
  CHECK_THROWS_AS(report_truncating(four_state(), two, asked(2, "e a")), BadInput);
  CHECK_THROWS_WITH(
      report_joint(four_state(), parse_ladder("1,2", "test"), Schedule::adj, asked(2, "e")),
      Catch::Contains("one for each of the 2 rungs"));
}

TEST_CASE("a ladder of one rung has no swap and moves as its rung does") {
  const RungReport rung = report_fixed_horizon(four_state(), two, asked(2, "a a", 4));
  for (const Schedule schedule : {Schedule::adj, Schedule::deo}) {
    const JointReport joint =
        report_joint(four_state(), parse_ladder("2", "test"), schedule, asked(2, "a a", 4));
    CHECK(joint.swap_acceptance.empty());
    CHECK(joint.records == rung.states);
    CHECK(joint.total_variation == rung.total_variation);
  }
}

TEST_CASE("laws of the joint report") {
  law("both schedules keep the target, and the curve is that of repeated steps", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(2);
    const FixedHorizonSpace space(model, horizon);
    const Ladder ladder = random::ladder(space.size() > 4 ? 2 : 3);
    ExactQuestion question = asked(horizon, nullptr, 3);
    question.restart = random::restart(horizon);
    std::string start = space.name(0);
    for (std::size_t k = 1; k < ladder.rungs(); ++k) start += "|" + space.name(k % space.size());
    question.start = {start, "start"};
    const ParallelTempering kernels(space, ladder, *question.restart);
    const Law target = kernels.target();
    Law ordered =
        point_mass(target.size(), parse_joint_state(space, ladder.rungs(), start, "start"));
    Law even_odd = ordered;
    const auto by_order = report_joint(model, ladder, Schedule::adj, question);
    const auto by_parity = report_joint(model, ladder, Schedule::deo, question);
    for (std::size_t n = 0; n <= 3; ++n) {
      RC_ASSERT(by_order.total_variation[n] == total_variation(ordered, target));
      RC_ASSERT(by_parity.total_variation[n] == total_variation(even_odd, target));
      ordered = kernels.ordered_sweep().apply(kernels.local_sweep().apply(ordered));
      even_odd = kernels.local_sweep().apply(even_odd);
      even_odd = (n % 2 == 0 ? kernels.odd_layer() : kernels.even_layer()).apply(even_odd);
    }
    RC_ASSERT(by_order.verdict.invariant());
    RC_ASSERT(by_parity.verdict.invariant());
    RC_ASSERT(by_order.swap_acceptance == diagnose_ladder(space, ladder).acceptances);
    RC_ASSERT(by_order.records == space.names());
  });
}
