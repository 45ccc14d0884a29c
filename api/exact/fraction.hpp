#pragma once

#include <vector>

#include "reference/numbers/rational.hpp"
#include "tempera/exact.hpp"

namespace tempera::exact {

/// The number that a public fraction holds.
struct Fraction::Number {
  reference::Rational value;
};

inline Fraction fraction(reference::Rational value) {
  return Fraction(std::make_shared<const Fraction::Number>(Fraction::Number{std::move(value)}));
}
inline const reference::Rational& rational(const Fraction& fraction) {
  return fraction.number().value;
}
std::vector<Fraction> fractions(const std::vector<reference::Rational>& values);

}  // namespace tempera::exact
