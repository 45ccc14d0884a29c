#pragma once

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// A numerator over a denominator above 0, not in lowest terms.
struct Fraction {
  Integer numerator, denominator;
};

/// The n and d > 0 with n ≡ d · residue modulo `modulus` whose n² + d² is least. If some
/// fraction has n² + d² < modulus, it is a multiple of this one. Found by half a greatest common
/// divisor, in time that grows little faster than a product's. residue in [0, modulus), modulus
/// > 1.
Fraction shortest_fraction(const Integer& residue, const Integer& modulus);

}  // namespace tempera::reference
