#include "reference/analysis/four_state.hpp"

#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "tests/reference/four_state.hpp"

using namespace tempera::reference;

TEST_CASE("the closed forms are the chains', from X_4 and from X_3") {  // eq:condensed-tv-laws
  const FixedHorizonSpace fixed(four_state(), 2);
  const ComparisonSpace enlarged(four_state(), 2);
  const FactoredKernel fixed_kernel(fixed_horizon_kernel(fixed, Power(2), RestartLaw::uniform(2)));
  const FactoredKernel truncating(truncating_kernel(enlarged, Power(2)));
  for (const char* start : {"a a", "a e"}) {
    const auto fixed_tv = total_variation_curve({fixed_kernel}, fixed.parse(start, "test"),
                                                power_target(fixed, Power(2)), 40);
    const auto truncating_tv = total_variation_curve({truncating}, enlarged.parse(start, "test"),
                                                     power_target(enlarged, Power(2)), 40);
    for (unsigned n = 0; n <= 40; ++n) {
      CHECK(fixed_tv[n] == four_state_fixed_tv(n));
      CHECK(truncating_tv[n] == four_state_truncating_tv(n));
    }
  }
}

TEST_CASE("the paper's table") {
  CHECK(four_state_truncating_tv(2) == Rational(17, 48));
  CHECK(four_state_fixed_tv(2) == Rational(25, 96));
  const std::pair<unsigned, std::pair<const char*, const char*>> table[] = {
      {0, {"0.83333", "0.83333"}}, {1, {"0.41667", "0.41667"}}, {2, {"0.26042", "0.35417"}},
      {3, {"0.16276", "0.30729"}}, {4, {"0.10173", "0.28906"}}, {5, {"0.06358", "0.34180"}},
      {10, {"0.00606", "0.46246"}}};
  for (const auto& [n, row] : table) {
    CHECK(to_decimal(four_state_fixed_tv(n), 5) == row.first);
    CHECK(to_decimal(four_state_truncating_tv(n), 5) == row.second);
  }
}

TEST_CASE("the truncating error is least at N = 4 and rises to one half") {
  CHECK(four_state_truncating_tv(4) == Rational(37, 128));
  for (unsigned n = 0; n < 60; ++n) {
    if (n != 4) CHECK(four_state_truncating_tv(n) > Rational(37, 128));
    if (n >= 4) CHECK(four_state_truncating_tv(n) < four_state_truncating_tv(n + 1));
    CHECK(four_state_truncating_tv(n) != Rational(1, 2));
  }
  CHECK(Rational(1, 2) - four_state_truncating_tv(60) < Rational(1, 1000000));
}

TEST_CASE("the censored mass is a lower bound, attained from N = 4") {  // eq:censored-mass-bound
  const ComparisonSpace space(four_state(), 2);
  const FactoredKernel truncating(truncating_kernel(space, Power(2)));
  Law law = point_mass(4, 1);
  for (unsigned n = 1; n <= 30; ++n) {
    law = truncating.apply(law);
    CHECK(law[0] == four_state_censored_mass(n));
    CHECK(four_state_truncating_tv(n) >= four_state_censored_mass(n));
    CHECK((four_state_truncating_tv(n) == four_state_censored_mass(n)) == (n >= 4));
  }
}
