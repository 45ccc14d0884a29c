#include "gpu/llm/transformer/kernels/float32_exponential.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace tempera::gpu {

TEST_CASE("the float32 exponential is within one unit in the last place", "[exponential]") {
  // Every 97th float of either sign up to 88, against the C library's exp in double, whose own
  // error is 2^-29 of such a unit.
  double worst = 0.0;
  bool all_numbers = true;
  for (const std::uint32_t sign : {0U, 0x80000000U}) {
    for (std::uint32_t bits = 0; bits < 0x42AE0000U; bits += 97) {  // 87
      const std::uint32_t signed_bits = bits | sign;
      float x;
      std::memcpy(&x, &signed_bits, sizeof x);
      const double exact = std::exp(double{x});
      const double unit = std::exp2(std::floor(std::log2(exact)) - 23.0);
      const double error = std::abs(double{float32_exponential(x)} - exact) / unit;
      all_numbers = all_numbers && std::isfinite(error);  // a NaN is larger than nothing
      worst = std::max(worst, error);
    }
  }
  CHECK(all_numbers);
  INFO("worst error: " << worst << " units");
  CHECK(worst < 1.0);
}

TEST_CASE("the float32 exponential has its exact values and bounds", "[exponential]") {
  CHECK(float32_exponential(0.0f) == 1.0f);
  CHECK(float32_exponential(-0.0f) == 1.0f);
  CHECK(float32_exponential(-INFINITY) == float32_exponential(-87.0f));
  CHECK(float32_exponential(INFINITY) == float32_exponential(88.0f));
  CHECK(std::isfinite(float32_exponential(INFINITY)));
  CHECK(1.0f + float32_exponential(-INFINITY) == 1.0f);
  CHECK(std::isnan(float32_exponential(NAN)));
}

}  // namespace tempera::gpu
