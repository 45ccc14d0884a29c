#include "reference/kernels/fixed_horizon_kernel.hpp"

#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/irreducibility.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/planted.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("the four-state fixed-horizon kernel is the paper's") {  // eq:condensed-fixed-kernel
  const Matrix paper = matrix_of({{q("3/8"), q("3/8"), q("1/4")},
                                  {q("3/8"), q("3/8"), q("1/4")},
                                  {q("1/16"), q("1/16"), q("7/8")}});
  const FixedHorizonSpace space(four_state(), 2);
  CHECK(fixed_horizon_kernel(space, Power(2), RestartLaw::uniform(2)) == paper);
  CHECK(planted::local_kernel(space, Power(2), planted::Defect::none) == paper);
}

TEST_CASE("laws of the fixed-horizon kernel") {
  // prop:fixed-stage-invariance
  law("each L_{k,r} and L_k is a kernel, reversible for the power target", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const Law target = power_target(space, power);
    const auto tokens = token_counts(space);
    const auto check = [&](const Matrix& kernel) {
      for (std::size_t x = 0; x < space.size(); ++x) {
        Rational total = 0;
        for (std::size_t y = 0; y < space.size(); ++y) {
          RC_ASSERT(kernel(x, y) >= 0);
          total += kernel(x, y);
        }
        RC_ASSERT(total == 1);
      }
      RC_ASSERT(!first_violation_of_detailed_balance(FactoredKernel(kernel), target, tokens));
      RC_ASSERT(!first_violation_of_invariance(FactoredKernel(kernel), target, tokens));
    };
    for (std::size_t r = 1; r <= space.horizon(); ++r) {
      check(fixed_horizon_kernel_at(space, power, r));
    }
    check(fixed_horizon_kernel(space, power, random::restart(space.horizon())));
  });

  law("L_k is the mixture of the L_{k,r}", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const RestartLaw restart = random::restart(space.horizon());
    Matrix mixture(space.size(), space.size());
    for (std::size_t r = 1; r <= space.horizon(); ++r) {
      const Matrix at_r = fixed_horizon_kernel_at(space, power, r);
      for (std::size_t x = 0; x < space.size(); ++x) {
        for (std::size_t y = 0; y < space.size(); ++y) mixture(x, y) += restart(r) * at_r(x, y);
      }
    }
    RC_ASSERT(mixture == fixed_horizon_kernel(space, power, restart));
  });

  law("with full restarts every record reaches every other in one step", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Matrix kernel =
        fixed_horizon_kernel(space, random::power(), RestartLaw::uniform(space.horizon()));
    RC_ASSERT(is_irreducible(FactoredKernel(kernel)));
    for (const Rational& entry : kernel.entries()) RC_ASSERT(entry > 0);
  });
}
