#include "reference/analysis/power_family.hpp"

#include "reference/analysis/four_state.hpp"
#include "reference/analysis/swap_moments.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/catch.hpp"

using namespace tempera::reference;

namespace {

bool encloses(const Interval& interval, const Interval& value) {
  return interval.lower() <= value.upper() && value.lower() <= interval.upper();
}

const FixedHorizonSpace& space() {
  static const FixedHorizonSpace records(parse_finite_model(four_state_model, "four-state"), 4);
  return records;
}

}  // namespace

TEST_CASE("moments of the energy enclose the exact ones, whose unit is log 2") {
  const Law p0 = base_law(space());
  const Interval unit = log(Interval(2, 128));
  for (const unsigned power : {1U, 2U, 5U}) {
    const Moments exact =
        moments(power_target(space(), Power(Rational(power))), energies(space(), 2));
    CHECK(encloses(mean_energy(p0, power, 128), Interval(exact.mean, 128) * unit));
    CHECK(encloses(energy_variance(p0, power, 128), Interval(exact.variance, 128) * unit * unit));
  }
}

TEST_CASE("the equilibrium acceptance encloses the exact one, and is narrow") {
  const Law p0 = base_law(space());
  for (const auto& [lower, upper] : std::vector<std::pair<unsigned, unsigned>>{{1, 2}, {2, 5}}) {
    const Rational exact = expected_swap_acceptance(power_target(space(), Power(Rational(lower))),
                                                    power_target(space(), Power(Rational(upper))));
    const Interval enclosed = equilibrium_acceptance(p0, lower, upper, 128);
    CHECK(enclosed.lower() <= exact);
    CHECK(exact <= enclosed.upper());
    CHECK(enclosed.upper() - enclosed.lower() < Rational(1, 1U << 30U));
  }
}

TEST_CASE("the thermodynamic distance is additive and narrows with its cells") {
  const Law p0 = base_law(space());
  const Interval whole = thermodynamic_distance(p0, 1, 3, 64, 64);
  CHECK(encloses(
      whole, thermodynamic_distance(p0, 1, 2, 64, 64) + thermodynamic_distance(p0, 2, 3, 64, 64)));
  const Interval finer = thermodynamic_distance(p0, 1, 3, 256, 64);
  CHECK(encloses(whole, finer));
  CHECK(finer.upper() - finer.lower() < whole.upper() - whole.lower());
}

TEST_CASE("the Gaussian acceptance is 1 at distance 0 and falls") {
  CHECK(encloses(gaussian_acceptance(Interval(0, 64)), Interval(1, 64)));
  CHECK(
      (gaussian_acceptance(Interval(1, 64)) - gaussian_acceptance(Interval(2, 64))).is_positive());
  // 2Φ(-1/√2) = 0.4795001…
  const Interval at_one = gaussian_acceptance(Interval(1, 64));
  CHECK(at_one.lower() > Rational(4795001, 10000000));
  CHECK(at_one.upper() < Rational(4795002, 10000000));
}
