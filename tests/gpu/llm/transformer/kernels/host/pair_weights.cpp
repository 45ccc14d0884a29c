// How a quantised weight is rounded to bfloat16 in three operations, held against to_bfloat16.
#include "gpu/llm/transformer/kernels/host/pair_weights.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/catch.hpp"

namespace tempera::gpu::pair_weights_test {

namespace {

float rounded(float value) {
  return rounded_to_bfloat16<Packing::q4_1>(broadcast_register(value))[0];
}

bool has_the_same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

TEST_CASE("three operations round every fraction to the nearest bfloat16, ties to even",
          "[kernels][quantised][bfloat16-pairs]") {
  // Of a power of two all fractions: nothing in the operations depends on which it is.
  std::size_t differ = 0;
  for (std::uint32_t fraction = 0; fraction < (1U << 23); ++fraction) {
    const std::uint32_t bits = 127U << 23 | fraction;
    float value = 0.0F;
    std::memcpy(&value, &bits, sizeof value);
    differ += !has_the_same_bits(rounded(value), from_bfloat16(to_bfloat16(value)));
  }
  CHECK(differ == 0);
}

TEST_CASE("they do so at both ends of what a quantised weight can be, and with either sign",
          "[kernels][quantised][bfloat16-pairs]") {
  // A fraction that is cut, one that is raised, both ties, and one that reaches the next power.
  for (const float value : {1.001F, 1.005F, 1.01171875F, 1.00390625F, 1.9999F}) {
    for (int power = -24; power < 45; ++power) {
      for (const float sign : {1.0F, -1.0F}) {
        const float weight = sign * std::ldexp(value, power);
        CHECK(has_the_same_bits(rounded(weight), from_bfloat16(to_bfloat16(weight))));
      }
    }
  }
  CHECK(has_the_same_bits(rounded(0.0F), 0.0F));
  CHECK(has_the_same_bits(rounded(-0.0F), -0.0F));
}

TEST_CASE("what is stored as bfloat16 is not rounded: the largest would overflow",
          "[kernels][quantised][bfloat16-pairs]") {
  constexpr float largest = 3.3895314e38F;
  CHECK(std::isnan(rounded(largest)));
  CHECK(has_the_same_bits(rounded_to_bfloat16<Packing::bfloat16>(broadcast_register(largest))[0],
                          largest));
}

}  // namespace tempera::gpu::pair_weights_test
