#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/numbers/prime_field.hpp"

namespace tempera::reference {

/// Puts an integer together from its residues modulo several primes (Garner's mixed radix).
class Residues {
 public:
  /// The primes must differ.
  explicit Residues(std::vector<PrimeField> fields);
  const std::vector<PrimeField>& fields() const { return fields_; }

  /// The integer N with |N| < Π p / 2 whose elements are these, one for each of the first
  /// `elements.size()` primes.
  Integer signed_integer(std::span<const PrimeField::Element> elements) const;

 private:
  std::vector<PrimeField> fields_;
  // of p_0 ⋯ p_{i-1}: its inverse modulo p_i, and the product of the first i primes
  std::vector<PrimeField::Element> inverse_of_earlier_;
  std::vector<std::vector<PrimeField::Element>> earlier_prime_;  // [i][j] p_j modulo p_i
  std::vector<Integer> product_;                                 // of the first i primes
};

}  // namespace tempera::reference
