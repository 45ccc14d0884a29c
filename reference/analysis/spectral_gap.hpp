#pragma once

#include <cstddef>

#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// How many eigenvalues, with their multiplicities, a kernel in detailed balance with a positive
/// law has above `value`: by Sylvester's law of inertia the positive pivots of the symmetric matrix
/// target(x) (P(x, y) - value 1{x = y}), in rationals. n x n, O(n³) products.
/// @throw std::invalid_argument if that matrix is not symmetric or the law is zero somewhere
std::size_t eigenvalues_above(const Matrix& kernel, const Law& target, const Rational& value);

/// Two rationals with a number between them: lower <= number <= upper.
struct Bracket {
  Rational lower, upper;
};

/// The second largest eigenvalue of such a kernel, 1 minus its spectral gap, between rationals
/// 2^(1 - halvings) apart; n >= 2.
/// @throw std::invalid_argument as eigenvalues_above
Bracket second_eigenvalue(const Matrix& kernel, const Law& target, unsigned halvings);

}  // namespace tempera::reference
