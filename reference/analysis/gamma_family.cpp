#include "reference/analysis/gamma_family.hpp"

namespace tempera::reference {
namespace {

/// P(U_α <= U_β), the rates in either order.
Rational at_most_probability(unsigned shape, const Rational& first, const Rational& second) {
  const Rational sum = first + second;
  Rational binomial = 1;  // C(c-1+j, j)
  Rational term = integer_power(Rational(first / sum), shape);
  Rational probability = 0;
  for (unsigned j = 0; j < shape; ++j) {
    probability += binomial * term;
    binomial = binomial * (shape + j) / (j + 1);
    term *= second / sum;
  }
  return probability;
}

}  // namespace

Rational gamma_variance(unsigned shape, const Rational& power) {
  const Rational mean = shape / power;
  const Rational square = Rational(shape) * (shape + 1) / (power * power);
  return square - mean * mean;
}

Rational gamma_acceptance(unsigned shape, const Rational& lower, const Rational& upper) {
  // If the lower power's energy is at most the upper's, e^G >= 1. Elsewhere e^G exchanges the
  // two densities, and what is left of the exchanged pair is its part with U_β < U_α, again at
  // most.
  return at_most_probability(shape, lower, upper) + (1 - at_most_probability(shape, upper, lower));
}

}  // namespace tempera::reference
