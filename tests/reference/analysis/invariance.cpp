#include "reference/analysis/invariance.hpp"

#include "reference/kernels/power_target.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/planted.hpp"

using namespace tempera::reference;

TEST_CASE("the truncating kernel moves mass onto the censored record first") {
  const ComparisonSpace space(four_state(), 2);
  const auto moved =
      first_violation_of_invariance(FactoredKernel(truncating_kernel(space, Power(2))),
                                    power_target(space, Power(2)), token_counts(space));
  REQUIRE(moved);
  CHECK(space.name(moved->state) == "a");
  CHECK(moved->before == 0);
  CHECK(moved->after == Rational(1, 3));
}

TEST_CASE("planted defects move the target, named at the smallest state") {
  const FixedHorizonSpace space(four_state(), 2);
  const Law target = power_target(space, Power(2));
  using planted::Defect;
  for (const Defect defect :
       {Defect::transposed_acceptance, Defect::unscored_proposal, Defect::restart_within_length}) {
    const FactoredKernel kernel(planted::local_kernel(space, Power(2), defect));
    const auto moved = first_violation_of_invariance(kernel, target, token_counts(space));
    REQUIRE(moved);
    CHECK(space.name(moved->state) == "e");
    CHECK(moved->before == Rational(2, 3));
    CHECK(moved->after != moved->before);
  }
  const FactoredKernel sound(planted::local_kernel(space, Power(2), Defect::none));
  CHECK_FALSE(first_violation_of_invariance(sound, target, token_counts(space)));
}
