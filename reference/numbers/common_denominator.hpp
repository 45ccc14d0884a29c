#pragma once

#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// Rationals as integers over one denominator: sums of products then need no reduction to lowest
/// terms, which is what makes exact laws of thousands of states affordable.
struct OverCommonDenominator {
  std::vector<Integer> numerators;
  Integer denominator = 1;
};

OverCommonDenominator over_common_denominator(const std::vector<Rational>& values);
std::vector<Rational> in_lowest_terms(const OverCommonDenominator& values);

/// sum += a * b, in place.
inline void add_product(Integer& sum, const Integer& a, const Integer& b) {
  mpz_addmul(sum.backend().data(), a.backend().data(), b.backend().data());
}

}  // namespace tempera::reference
