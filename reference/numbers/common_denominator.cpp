#include "reference/numbers/common_denominator.hpp"

namespace tempera::reference {

OverCommonDenominator over_common_denominator(const std::vector<Rational>& values) {
  OverCommonDenominator result;
  for (const Rational& value : values) {
    result.denominator = lcm(result.denominator, Integer(denominator(value)));
  }
  result.numerators.reserve(values.size());
  for (const Rational& value : values) {
    result.numerators.push_back(numerator(value) * (result.denominator / denominator(value)));
  }
  return result;
}

std::vector<Rational> in_lowest_terms(const OverCommonDenominator& values) {
  std::vector<Rational> result;
  result.reserve(values.numerators.size());
  for (const Integer& numerator : values.numerators) {
    result.push_back(Rational(numerator) / Rational(values.denominator));
  }
  return result;
}

}  // namespace tempera::reference
