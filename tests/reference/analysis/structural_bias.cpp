#include "reference/analysis/structural_bias.hpp"

#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("the four-state example realizes the confinement") {
  const ComparisonSpace space(four_state(), 2);
  const Law target = power_target(space, Power(2));
  const RungBias bias = rung_bias(space, truncating_kernel(space, Power(2)), target, 1);
  CHECK(bias.excluded_mass == Rational(1, 3));
  CHECK(bias.entry == Rational(1, 4));
  CHECK(bias.flow == Rational(1, 12));
  CHECK(bias.confined);
  for (unsigned n = 1; n < 10; ++n) {
    const Rational bound = Rational(1, 3) - integer_power(Rational(3, 4), n);
    CHECK(output_bias_bound({bias}, 0, n) == (bound > 0 ? bound : Rational(0)));
    CHECK(joint_bias_bound({bias}, n) == output_bias_bound({bias}, 0, n));
  }
  CHECK(joint_bias_floor({bias}) == Rational(1, 3));
}

TEST_CASE("the fixed-horizon kernel is not confined, which the check reports") {
  // Embedded in the comparison space with a self-loop at the censored record.
  const ComparisonSpace space(four_state(), 2);
  const Matrix fixed = matrix_of({{q("1"), q("0"), q("0"), q("0")},
                                  {q("0"), q("3/8"), q("3/8"), q("1/4")},
                                  {q("0"), q("3/8"), q("3/8"), q("1/4")},
                                  {q("0"), q("1/16"), q("1/16"), q("7/8")}});
  CHECK_FALSE(rung_bias(space, fixed, power_target(space, Power(2)), 1).confined);
}

// b, δ, φ all different, so that whatever is taken of another rung, dropped or repeated shows.
TEST_CASE("the bounds of three unlike rungs are the paper's, number by number") {
  const std::vector<RungBias> rungs{{q("1/2"), q("1/3"), q("1/12"), true},
                                    {q("1/3"), q("1/4"), q("1/6"), true},
                                    {q("1/5"), q("1/2"), q("1/4"), true}};
  CHECK(uniform_entry(rungs) == q("1/4"));
  CHECK(joint_bias_floor(rungs) == q("11/15"));  // 1 - 1/2 · 2/3 · 4/5
  CHECK(flow_bound(rungs) == q("1/6"));          // (1/12 + 1/6 + 1/4) / 3
  // K (1 - δ)^N = 3 (3/4)^N.
  CHECK(joint_bias_bound(rungs, 1) == 0);
  CHECK(joint_bias_bound(rungs, 4) == 0);  // 243/256 is above the floor
  CHECK(joint_bias_bound(rungs, 5) == q("11/15") - q("729/1024"));
  CHECK(joint_bias_bound(rungs, 6) == q("11/15") - q("2187/4096"));
  CHECK(output_bias_bound(rungs, 0, 6) == 0);
  CHECK(output_bias_bound(rungs, 0, 7) == q("1631/16384"));
  CHECK(output_bias_bound(rungs, 1, 7) == 0);
  CHECK(output_bias_bound(rungs, 1, 8) == q("1/3") - q("19683/65536"));
  CHECK(output_bias_bound(rungs, 2, 9) == 0);
  CHECK(output_bias_bound(rungs, 2, 10) == q("1/5") - q("177147/1048576"));
}

TEST_CASE("what a rung contributes is summed over the long records, the least entry among them") {
  // Open records a, a a of the four-state model at horizon 2, in order: a, a a, a e, e.
  const ComparisonSpace space(four_state(), 2);
  REQUIRE(space.names() == std::vector<std::string>{"a", "a a", "a e", "e"});
  const Matrix kernel = matrix_of({{q("1/2"), q("0"), q("0"), q("1/2")},
                                   {q("1/5"), q("1/2"), q("1/5"), q("1/10")},
                                   {q("1/8"), q("1/4"), q("1/4"), q("3/8")},
                                   {q("1"), q("0"), q("0"), q("0")}});
  const Law target{q("1/10"), q("1/5"), q("3/10"), q("2/5")};
  const RungBias bias = rung_bias(space, kernel, target, 1);
  CHECK(bias.excluded_mass == q("1/2"));
  CHECK(bias.entry == q("3/10"));   // of 3/10 and 1/2
  CHECK(bias.flow == q("21/100"));  // 1/5 · 3/10 + 3/10 · 1/2
  CHECK(bias.confined);
  // No record is longer than the horizon.
  const RungBias none = rung_bias(space, kernel, target, 2);
  CHECK(none.excluded_mass == 0);
  CHECK(none.entry == 1);
  CHECK(none.flow == 0);
  CHECK(none.confined);
}

TEST_CASE("laws of the structural bias") {
  // thm:ppt-structural-bias and the flow bound, on the joint truncating chain.
  law("truncating PPT is at least as far from its target as the theorem says", [] {
    const ComparisonSpace space(random::model(), random::horizon(2));
    RC_PRE(space.size() <= 8);
    const int rungs = random::between(1, 2);
    const Ladder ladder = random::ladder(rungs);
    std::vector<Matrix> locals;
    std::vector<Law> targets;
    std::vector<RungBias> biases;
    for (std::size_t k = 0; k < ladder.rungs(); ++k) {
      locals.push_back(truncating_kernel(space, ladder[k]));
      targets.push_back(power_target(space, ladder[k]));
      biases.push_back(rung_bias(space, locals[k], targets[k], 1));
      RC_ASSERT(biases[k].confined);
    }
    const Shape shape(ladder.rungs(), space.size());
    FactoredKernel round(shape);
    round.then_move(locals);
    for (std::size_t k = 0; k + 1 < ladder.rungs(); ++k) {
      round.then_swap(k, truncating_swap_acceptance(space, ladder[k], ladder[k + 1]));
    }
    const Law target = product_law(targets);

    RC_ASSERT(total_variation(round.apply(target), target) >= flow_bound(biases));
    Law law = point_mass(target.size(), random::between<std::size_t>(0, target.size() - 1));
    for (unsigned n = 1; n <= 6; ++n) {
      law = round.apply(law);
      RC_ASSERT(total_variation(law, target) >= joint_bias_bound(biases, n));
      for (std::size_t k = 0; k < ladder.rungs(); ++k) {
        RC_ASSERT(total_variation(marginal(law, shape, k), targets[k]) >=
                  output_bias_bound(biases, k, n));
      }
    }
  });
}
