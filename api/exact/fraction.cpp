#include "api/exact/fraction.hpp"

namespace tempera::exact {

Fraction::Fraction(long long numerator, long long denominator)
    : Fraction(fraction(reference::Rational(numerator, denominator))) {}
Fraction::Fraction(const std::string& text)
    : Fraction(fraction(reference::parse_rational(text, "fraction"))) {}

Fraction Fraction::operator+(const Fraction& other) const {
  return fraction(rational(*this) + rational(other));
}
Fraction Fraction::operator-(const Fraction& other) const {
  return fraction(rational(*this) - rational(other));
}
Fraction Fraction::operator*(const Fraction& other) const {
  return fraction(rational(*this) * rational(other));
}
Fraction Fraction::operator/(const Fraction& other) const {
  return fraction(rational(*this) / rational(other));
}
bool Fraction::operator==(const Fraction& other) const {
  return rational(*this) == rational(other);
}
std::strong_ordering Fraction::operator<=>(const Fraction& other) const {
  return rational(*this).compare(rational(other)) <=> 0;
}
std::string Fraction::text() const { return reference::to_string(rational(*this)); }
double Fraction::value() const { return rational(*this).convert_to<double>(); }

std::vector<Fraction> fractions(const std::vector<reference::Rational>& values) {
  std::vector<Fraction> list;
  list.reserve(values.size());
  for (const auto& value : values) list.push_back(fraction(value));
  return list;
}

}  // namespace tempera::exact
