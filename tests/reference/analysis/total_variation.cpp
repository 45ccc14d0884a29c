#include "reference/analysis/total_variation.hpp"

#include "reference/analysis/four_state.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("total variation is half the absolute difference") {
  CHECK(total_variation({q("1/2"), q("1/2"), q("0")}, {q("1/4"), q("1/4"), q("1/2")}) ==
        Rational(1, 2));
}

TEST_CASE("a schedule of two kernels alternates") {
  Matrix stay = matrix_of({{q("1"), q("0")}, {q("0"), q("1")}});
  Matrix flip = matrix_of({{q("0"), q("1")}, {q("1"), q("0")}});
  CHECK(total_variation_curve({FactoredKernel(stay), FactoredKernel(flip)}, 0, {q("1"), q("0")},
                              4) == std::vector<Rational>{0, 0, 1, 1, 0});
}

TEST_CASE("laws of total variation") {
  law("it never grows along a chain that leaves its target", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const FactoredKernel kernel(
        fixed_horizon_kernel(space, power, random::restart(space.horizon())));
    const auto start = random::between<std::size_t>(0, space.size() - 1);
    const auto curve = total_variation_curve({kernel}, start, power_target(space, power), 4);
    for (std::size_t n = 1; n < curve.size(); ++n) RC_ASSERT(curve[n] <= curve[n - 1]);
  });
  law("it is a distance", [] {
    const Law mu = random::weights(4), nu = random::weights(4), xi = random::weights(4);
    RC_ASSERT((total_variation(mu, nu) == 0) == (mu == nu));
    RC_ASSERT(total_variation(mu, nu) == total_variation(nu, mu));
    RC_ASSERT(total_variation(mu, xi) <= total_variation(mu, nu) + total_variation(nu, xi));
  });
}
