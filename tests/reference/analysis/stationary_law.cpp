#include "reference/analysis/stationary_law.hpp"

#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/planted.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("the truncating chain settles where the paper says") {  // eq:condensed-invariance-test
  const ComparisonSpace space(four_state(), 2);
  CHECK(stationary_law(truncating_kernel(space, Power(2))) ==
        Law{q("1/2"), q("0"), q("0"), q("1/2")});
}

TEST_CASE("two closed classes have no one stationary law") {
  CHECK_FALSE(stationary_law(matrix_of({{q("1"), q("0")}, {q("0"), q("1")}})));
}

TEST_CASE("a planted defect settles elsewhere than at the target") {
  const FixedHorizonSpace space(four_state(), 2);
  const auto defect = planted::Defect::restart_within_length;
  const auto settled = stationary_law(planted::local_kernel(space, Power(2), defect));
  REQUIRE(settled);
  CHECK(*settled == Law{q("1/4"), q("1/4"), q("1/2")});
  CHECK(*settled != power_target(space, Power(2)));
}

TEST_CASE("laws of the stationary law") {
  law("of the fixed-horizon kernel with full restarts it is the power target", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const Matrix kernel = fixed_horizon_kernel(space, power, RestartLaw::uniform(space.horizon()));
    RC_ASSERT(stationary_law(kernel) == power_target(space, power));
  });
}
