#include "gpu/core/lottery/exponential.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/law.hpp"

using tempera::gpu::exponential;
using tempera::gpu::logarithm;
using Exact = boost::multiprecision::cpp_bin_float_50;

namespace {

/// |value − exact| in units of the last place of value.
double ulps(double value, const Exact& exact) {
  const double unit =
      std::nextafter(std::fabs(value), std::numeric_limits<double>::infinity()) - std::fabs(value);
  return (abs(Exact(value) - exact) / unit).convert_to<double>();
}

/// A double spread evenly over [low, high) by a generated integer.
double between(double low, double high, std::uint64_t u) {
  return low + (high - low) * (static_cast<double>(u >> 11) * 0x1p-53);
}

}  // namespace

TEST_CASE("exp is within one unit in the last place of the exact value") {
  law("exp within 1 ulp on [-700, 700]", [](std::uint64_t u) {
    const double x = between(-700.0, 700.0, u);
    RC_ASSERT(ulps(exponential(x), exp(Exact(x))) < 1.0);
  });
  law("exp within 1 ulp on [-1, 0], where tickets are made", [](std::uint64_t u) {
    const double x = between(-1.0, 0.0, u);
    RC_ASSERT(ulps(exponential(x), exp(Exact(x))) < 1.0);
  });
}

TEST_CASE("exp at its ends") {
  CHECK(exponential(0.0) == 1.0);
  CHECK(exponential(-0.0) == 1.0);
  CHECK(exponential(-708.5) == 0.0);
  CHECK(exponential(-std::numeric_limits<double>::infinity()) == 0.0);
  CHECK(exponential(710.0) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(exponential(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("log is within 1.5 units in the last place, and 2^-53 near 1") {
  law("log within 1.5 ulp away from 1", [](std::uint64_t u, bool above) {
    const double x = above ? between(1.5, 1e6, u) : between(1e-6, 0.6, u);
    RC_ASSERT(ulps(logarithm(x), log(Exact(x))) < 1.5);
  });
  law("log of an integer sum of tickets", [](std::uint64_t u) {
    const double x = static_cast<double>((u >> 1) | 2U);
    RC_ASSERT(ulps(logarithm(x), log(Exact(x))) < 1.5);
  });
  law("log within 2^-53 near 1", [](std::uint64_t u) {
    const double x = between(0.75, 1.5, u);
    RC_ASSERT(abs(Exact(logarithm(x)) - log(Exact(x))) < Exact(0x1p-53));
  });
}

TEST_CASE("log at its ends") {
  CHECK(logarithm(1.0) == 0.0);
  CHECK(logarithm(0.0) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(logarithm(-1.0)));
  CHECK(std::isnan(logarithm(std::numeric_limits<double>::quiet_NaN())));
}
