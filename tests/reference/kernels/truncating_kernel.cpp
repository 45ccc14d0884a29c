#include "reference/kernels/truncating_kernel.hpp"

#include "reference/analysis/invariance.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("the four-state truncating kernel is the paper's") {  // eq:condensed-fixed-kernel
  const ComparisonSpace space(four_state(), 2);
  const Matrix kernel = truncating_kernel(space, Power(2));
  CHECK(kernel == matrix_of({{q("1/2"), q("0"), q("0"), q("1/2")},
                             {q("0"), q("3/8"), q("3/8"), q("1/4")},
                             {q("0"), q("3/8"), q("3/8"), q("1/4")},
                             {q("1/2"), q("0"), q("0"), q("1/2")}}));
  // eq:condensed-invariance-test
  CHECK(FactoredKernel(kernel).apply(power_target(space, Power(2))) ==
        Law{q("1/3"), q("1/8"), q("1/8"), q("5/12")});
}

TEST_CASE("laws of the truncating kernel") {
  law("it is a kernel that never lengthens a record", [] {
    const ComparisonSpace space(random::model(), random::horizon());
    const Matrix kernel = truncating_kernel(space, random::power());
    for (std::size_t x = 0; x < space.size(); ++x) {
      Rational total = 0;
      for (std::size_t y = 0; y < space.size(); ++y) {
        RC_ASSERT(kernel(x, y) >= 0);
        RC_ASSERT(kernel(x, y) == 0 || space[y].length() <= space[x].length());
        total += kernel(x, y);
      }
      RC_ASSERT(total == 1);
    }
  });

  law("it leaves the target exactly when target mass flows across some length", [] {
    const ComparisonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const Law target = power_target(space, power);
    const Matrix kernel = truncating_kernel(space, power);
    bool flows = false;
    for (std::size_t h = 1; h < space.horizon(); ++h) {
      flows = flows || rung_bias(space, kernel, target, h).flow > 0;
    }
    RC_CLASSIFY(flows);
    RC_ASSERT(flows ==
              first_violation_of_invariance(FactoredKernel(kernel), target, token_counts(space))
                  .has_value());
  });
}
