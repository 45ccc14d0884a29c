#include "reference/arithmetic/rounding.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/law.hpp"

using namespace tempera::reference;

namespace {

/// A float32 by its bits; every kind of number is as likely as its exponent.
float float_of_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

Rational exact(double value) {
  int exponent;
  const double significand = std::frexp(value, &exponent);  // 53 bits of it
  return Rational(static_cast<std::int64_t>(std::ldexp(significand, 53))) *
         power_of_two(exponent - 53);
}

}  // namespace

TEST_CASE("the nearest whole number is the even one of a tie, on both sides of 0") {
  CHECK(nearest_whole(Rational(1, 2)) == 0);
  CHECK(nearest_whole(Rational(3, 2)) == 2);
  CHECK(nearest_whole(Rational(5, 2)) == 2);
  CHECK(nearest_whole(Rational(-1, 2)) == 0);
  CHECK(nearest_whole(Rational(-3, 2)) == -2);
  CHECK(nearest_whole(Rational(-7, 2)) == -4);
  CHECK(nearest_whole(Rational(1'000'001, 2'000'000)) == 1);
  CHECK(nearest_whole(Rational(-1'000'001, 2'000'000)) == -1);
  CHECK(nearest_whole(Rational(7)) == 7);
}

TEST_CASE("the nearest float32 has 24 bits, fewer where it is subnormal, and an end") {
  const Rational million_bits = power_of_two(24) + 1;  // half way between two, the even one below
  CHECK(nearest_float32(million_bits) == power_of_two(24));
  CHECK(nearest_float32(power_of_two(24) + 3) == power_of_two(24) + 4);
  CHECK(nearest_float32(-million_bits) == -power_of_two(24));
  CHECK(nearest_float32(power_of_two(-149) * Rational(3, 2)) == power_of_two(-148));
  CHECK(nearest_float32(power_of_two(-150)) == 0);
  CHECK(nearest_float32(power_of_two(-150) * Rational(9, 8)) == power_of_two(-149));
  const Rational largest = power_of_two(128) - power_of_two(104);
  CHECK(nearest_float32(largest + power_of_two(102)) == largest);
  CHECK_FALSE(nearest_float32(largest + power_of_two(103)));
  CHECK_FALSE(nearest_float32(-power_of_two(128)));
}

TEST_CASE("laws of the nearest float32") {
  law("it is what the processor rounds a double to", [] {
    const auto bits = *rc::gen::arbitrary<std::uint64_t>();
    // A float's sign and exponent, one beyond either end, before 52 bits of a double.
    const int exponent = *rc::gen::inRange(-151, 129);
    const double value =
        std::ldexp(1.0 + static_cast<double>(bits >> 12) / 0x1p52, exponent) * (bits & 1 ? -1 : 1);
    const auto rounded = static_cast<float>(value);
    const auto expected = nearest_float32(exact(value));
    RC_ASSERT(expected.has_value() == !std::isinf(rounded));
    if (expected) RC_ASSERT(*expected == exact(static_cast<double>(rounded)));
  });
  law("half way between two neighbours it is the one whose last bit is 0", [] {
    const auto bits = *rc::gen::inRange<std::uint32_t>(0, 0x7F7F'FFFF);
    const Rational below = exact(static_cast<double>(float_of_bits(bits)));
    const Rational above = exact(static_cast<double>(float_of_bits(bits + 1)));
    RC_ASSERT(nearest_float32((below + above) / 2) == (bits % 2 == 0 ? below : above));
  });
}
