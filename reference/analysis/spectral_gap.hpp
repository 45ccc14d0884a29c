#pragma once

#include <cstddef>
#include <optional>

#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// How many eigenvalues, with their multiplicities, a kernel in detailed balance with a positive
/// law has above `value`: by Sylvester's law of inertia the positive pivots of the symmetric matrix
/// target(x) (P(x, y) - value 1{x = y}). n x n, O(n³) products: of intervals if these decide
/// every pivot, and of rationals if they do not, as when `value` is an eigenvalue.
/// @throw Bug if that matrix is not symmetric or the law is zero somewhere
std::size_t eigenvalues_above(const Matrix& kernel, const Law& target, const Rational& value);

/// The same by intervals of `bits` bits alone; nothing if the sign of a pivot stays open.
std::optional<std::size_t> eigenvalues_above_by_intervals(const Matrix& kernel, const Law& target,
                                                          const Rational& value, long bits);

/// Two rationals with a number between them: lower <= number <= upper.
struct Bracket {
  Rational lower, upper;
};

/// The second largest eigenvalue of such a kernel, 1 minus its spectral gap, between rationals
/// 2^(1 - halvings) apart, a multiple of that above -1; n >= 2. Floating point proposes where to
/// look, eigenvalues_above decides.
/// @throw Bug as eigenvalues_above
Bracket second_eigenvalue(const Matrix& kernel, const Law& target, unsigned halvings);

}  // namespace tempera::reference
