#include "reference/kernels/power_target.hpp"

#include <numeric>

#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("the four-state target is the paper's") {  // eq:condensed-finite-summary
  const Law base{q("0"), q("1/4"), q("1/4"), q("1/2")};
  const Law target{q("0"), q("1/6"), q("1/6"), q("2/3")};
  const ComparisonSpace space(four_state(), 2);
  CHECK(base_law(space) == base);
  CHECK(power_target(space, Power(2)) == target);
}

TEST_CASE("laws of the power target") {
  law("it is positive on S_T, sums to one, and powers ratios", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const Law base = base_law(space), target = power_target(space, power);
    RC_ASSERT(std::accumulate(target.begin(), target.end(), Rational(0)) == 1);
    for (std::size_t x = 0; x < space.size(); ++x) {
      RC_ASSERT(target[x] > 0);
      RC_ASSERT(target[x] / target[0] == power.raise(base[x] / base[0]));
    }
    RC_ASSERT(power_target(space, Power(1)) == base);
  });
}
