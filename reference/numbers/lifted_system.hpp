#pragma once

#include <vector>

#include "reference/numbers/common_denominator.hpp"
#include "reference/numbers/triangular_factors.hpp"

namespace tempera::reference {

/// The solution x of A x = b for a square A whose leading minors are not 0, exactly, not in lowest
/// terms.
///
/// Dixon's lifting: A is factored once modulo k primes of 62 bits; x is then found digit by digit
/// to the base X = p_1 ⋯ p_k. With the residue r (b at first) each digit is d = A^-1 r mod X, and
/// the next residue (r - A d) / X, a number little longer than A's entries, is carried modulo as
/// many other primes as it needs. The common denominator D is put together from the digits as soon
/// as there are enough: not from a bound, which for a chain of several rungs may be ten times too
/// long. What is returned is proved by its size: A N ≡ D b modulo a power of X above |A N - D b|.
///
/// A: [n, n], b: [n]. Operations: k n³ / 3 for the factors, and n² (1 + l / k) for each 62 bits of
/// numerator and denominator, for entries of l · 62 bits.
/// @throw Bug if a leading minor of A is 0
OverCommonDenominator lifted_solution(const IntegerMatrix& a, const std::vector<Integer>& b);

}  // namespace tempera::reference
