#include "gpu/llm/transformer/cache/page_elements.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"

namespace tempera::gpu::page_elements_test {

namespace {

using Elements = EightBitElements;

float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// The least e >= -126 with rint(M / 2^e) <= 127, one after the other.
int least_exponent(float largest) {
  int e = -126;
  while (std::nearbyint(std::ldexp(static_cast<double>(largest), -e)) > 127) ++e;
  return e;
}

/// Of every binade its ends, its middle, and what is beside 255/256 of the next one's beginning.
std::vector<float> largest_elements() {
  std::vector<float> all;
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent)
    for (const std::uint32_t fraction :
         {0U, 1U, 0x400000U, 0x7EFFFFU, 0x7F0000U, 0x7F0001U, 0x7FFFFFU})
      all.push_back(from_bits(exponent << 23 | fraction));
  return all;
}

}  // namespace

TEST_CASE("elements of 8 bits are the nearest multiples of the least power that has room",
          "[cache]") {
  for (const float largest : largest_elements()) {
    const std::uint8_t exponent = Elements::exponent_of(Elements::magnitude_of(-largest));
    const int e = least_exponent(largest);
    CAPTURE(largest, e);
    REQUIRE(exponent == e + 127);
    REQUIRE(static_cast<double>(Elements::power_of(exponent)) == std::ldexp(1.0, e));
    for (int part = -1024; part <= 1024; ++part) {
      // The largest itself is among these, and what is half-way between two multiples.
      for (const double x : {std::ldexp(static_cast<double>(largest) * part, -10),
                             std::ldexp(static_cast<double>(part), e - 3)}) {
        const auto given = static_cast<float>(x);
        if (std::abs(given) > largest) continue;
        const Elements::Stored stored = Elements::element_of(given, exponent);
        const double n = std::nearbyint(std::ldexp(static_cast<double>(given), -e));
        REQUIRE(static_cast<double>(Elements::value_of(stored)) == n);
        REQUIRE(static_cast<int>(stored) - 128 == static_cast<int>(n));
        REQUIRE(std::abs(n) <= 127);
        REQUIRE(std::abs(static_cast<double>(given) - std::ldexp(n, e)) <= std::ldexp(1.0, e - 1));
      }
    }
  }
}

TEST_CASE("a head that has an infinity or a NaN is all NaN in 8 bits", "[cache]") {
  for (const float wrong :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN(), from_bits(0xFF800001U)}) {
    REQUIRE(Elements::magnitude_of(wrong) >
            Elements::magnitude_of(std::numeric_limits<float>::max()));
    const std::uint8_t exponent = Elements::exponent_of(Elements::magnitude_of(wrong));
    for (const float x : {wrong, 0.0F, 1.0F})
      CHECK(std::isnan(Elements::value_of(Elements::element_of(x, exponent)) *
                       Elements::power_of(exponent)));
  }
  CHECK(Elements::value_of(Elements::zero) == 0.0F);
  CHECK(Bfloat16Elements::value_of(Bfloat16Elements::zero) == 0.0F);
}

}  // namespace tempera::gpu::page_elements_test
