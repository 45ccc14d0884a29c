#pragma once

#include "base/error.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// A chain that has more than one stationary law.
class ReducibleChain : public Error {
 public:
  using Error::Error;
};

/// A stationary law whose fractions would take too long to find.
class FractionsTooLong : public Error {
 public:
  using Error::Error;
};

/// The most n² Σ_x (bits of row x's common denominator) whose stationary law is solved for: some
/// minutes on 2 cores.
inline constexpr double stationary_law_limit = 2e12;

/// The stationary law π = πP of an irreducible rational matrix, exactly.
///
/// With each row's denominators cleared and the last state's mass set to 1, the other states'
/// masses solve an integer system, which is lifted modulo powers of primes
/// (reference/numbers/lifted_system.hpp): seconds to a minute for a thousand states whose entries
/// have hundreds of bits.
///
/// P: [n, n], rows summing to 1, n > 0.
/// @throw FractionsTooLong above `limit`
/// @throw ReducibleChain if some state does not reach the last one
reference::Law exact_stationary_law(const reference::Matrix& p,
                                    double limit = stationary_law_limit);

}  // namespace tempera::lab
