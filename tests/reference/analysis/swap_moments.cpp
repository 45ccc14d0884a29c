#include "reference/analysis/swap_moments.hpp"

#include "base/error.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

namespace {

// Powers of 1/2, so that energies are whole in units of log 2.
FiniteModel halves() {
  return {{"halves",
           {{"a", "b", "e"}, "test"},
           {2},
           {{{}, {q("1/2"), q("1/4"), q("1/4")}}, {{0}, {q("1/8"), q("1/8"), q("3/4")}}},
           TokenRow{q("1/4"), q("1/4"), q("1/2")}},
          "test"};
}

}  // namespace

TEST_CASE("energies are counted in units of the base's logarithm") {
  CHECK(energies(FixedHorizonSpace(four_state(), 2), 2) == std::vector<Rational>{2, 2, 1});
  CHECK_THROWS_WITH(energies(FixedHorizonSpace(four_state(), 2), 3),
                    Catch::Contains("1/4 is not a power of 1/3"));
  CHECK_THROWS_WITH(energies(FixedHorizonSpace(halves(), 2), 2),
                    Catch::Contains("3/8 is not a power of 1/2"));
  CHECK_THROWS_AS(energies(FixedHorizonSpace(four_state(), 2), 1), BadInput);
  const FiniteModel certain = parse_finite_model(
      R"({"name": "m", "vocabulary": ["a"], "terminal": [], "default": {"a": 1}})", "m");
  CHECK(energies(FixedHorizonSpace(certain, 3), 2) == std::vector<Rational>{0});
}

TEST_CASE("the moments of the swap log ratio are those of its law") {
  const FixedHorizonSpace space(four_state(), 3);
  const auto energy = energies(space, 2);
  for (const unsigned upper : {2U, 3U, 5U}) {
    const Power one(Rational(1)), other{Rational(upper)};
    const Law below = power_target(space, one), above = power_target(space, other);
    // E[G] and E[G²] over all pairs.
    Rational mean = 0, square = 0;
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y) {
        const Rational ratio = Rational(upper - 1) * (energy[y] - energy[x]);
        mean += below[x] * above[y] * ratio;
        square += below[x] * above[y] * ratio * ratio;
      }
    const Moments found = swap_log_ratio_moments(space, one, other, energy);
    CHECK(found.mean == mean);
    CHECK(found.variance == square - mean * mean);
    CHECK(found.mean < 0);
  }
}

// Two energies one apart: σ²(s) = w(1 - w), w = 1 / (1 + 2^{s-1}) on the higher one, falls for s
// above 1. So E[G] = -(β - α) ∫ σ² is between the integrals of its end values. In units of log 2
// both sides carry it squared but for one factor of ds, and 0.6931 < log 2 < 0.6932.
TEST_CASE("the mean is minus the gap times the integral of the variance") {
  const FixedHorizonSpace space(four_state(), 2);
  const auto energy = energies(space, 2);
  for (const unsigned alpha : {1U, 2U, 3U}) {
    const Power lower{Rational(alpha)}, upper{Rational(alpha + 1)};
    const Rational most = moments(power_target(space, lower), energy).variance;
    const Rational least = moments(power_target(space, upper), energy).variance;
    const Rational mean = swap_log_ratio_moments(space, lower, upper, energy).mean;
    CHECK(-mean < most * q("0.6932"));
    CHECK(-mean > least * q("0.6931"));
  }
}
