#include "reference/arithmetic/rounding.hpp"

#include <algorithm>

namespace tempera::reference {

Rational power_of_two(int exponent) {
  const Rational size(Integer(1) << static_cast<unsigned>(exponent < 0 ? -exponent : exponent));
  return exponent < 0 ? 1 / size : size;
}

Integer nearest_whole(const Rational& value) {
  if (value < 0) return -nearest_whole(-value);
  const Integer below = numerator(value) / denominator(value);
  const Rational rest = value - Rational(below);
  if (rest > Rational(1, 2)) return below + 1;
  if (rest < Rational(1, 2)) return below;
  return below % 2 == 0 ? below : Integer(below + 1);
}

std::optional<Rational> nearest_float32(const Rational& value) {
  if (value < 0) {
    const auto opposite = nearest_float32(-value);
    return opposite ? std::optional<Rational>(-*opposite) : std::nullopt;
  }
  if (value == 0) return value;
  // A significand is a whole number below 2^24 times a power of two that is 2^-149 or more. The
  // lengths say where it is to within two.
  const int length = static_cast<int>(length_in_bits(numerator(value))) -
                     static_cast<int>(length_in_bits(denominator(value)));
  int unit = std::max(-149, length - 25);
  while (value >= power_of_two(unit + 24)) ++unit;
  const Rational rounded = Rational(nearest_whole(value / power_of_two(unit))) * power_of_two(unit);
  if (rounded >= power_of_two(128)) return std::nullopt;
  return rounded;
}

}  // namespace tempera::reference
