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
