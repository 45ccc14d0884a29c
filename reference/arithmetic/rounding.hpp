#pragma once

#include <optional>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// 2^exponent.
Rational power_of_two(int exponent);

/// The whole number nearest to `value`; of two as near, the even one.
Integer nearest_whole(const Rational& value);

/// The float32 nearest to `value`, subnormal ones among them; of two as near, the one with an even
/// significand. Nothing where that is beyond the largest, so that the float32 is infinite.
std::optional<Rational> nearest_float32(const Rational& value);

}  // namespace tempera::reference
