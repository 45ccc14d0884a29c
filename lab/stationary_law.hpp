#pragma once

#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// The stationary law π = πP of an irreducible rational matrix, exactly.
///
/// π_i is proportional to a cofactor of the integer matrix D(I − P), D clearing each row's
/// denominators. The cofactors are found modulo 62-bit primes, as many as Hadamard's bound asks
/// for, and put together by the Chinese remainder theorem: for matrices whose entries have
/// thousands of bits this takes seconds where rational elimination takes hours.
///
/// P: [n, n], rows summing to 1. Cost: O(n^4 · bits).
/// @throw std::domain_error if P has no unique stationary law
reference::Law exact_stationary_law(const reference::Matrix& p);

}  // namespace tempera::lab
