#pragma once

#include <optional>
#include <vector>

#include "reference/numbers/prime_field.hpp"

namespace tempera::reference {

using IntegerMatrix = std::vector<std::vector<Integer>>;  ///< rows

/// A = L U modulo one prime p, L with ones on its diagonal, for solving A x = b many times. [n, n].
class TriangularFactors {
 public:
  /// Numbers in [0, p) as they are, where an Element is in Montgomery's form.
  using Numbers = std::vector<std::uint64_t>;

  /// Without pivots, by n³ / 3 products: nothing if a leading minor vanishes modulo p.
  static std::optional<TriangularFactors> of(const IntegerMatrix& a, const PrimeField& field);

  const PrimeField& field() const { return field_; }
  /// A^-1 b in place, by n² products.
  void solve(Numbers& b) const;

 private:
  using Element = PrimeField::Element;
  TriangularFactors(PrimeField field, std::size_t n)
      : field_(field), entries_(n * n), inverse_of_diagonal_(n) {}

  PrimeField field_;
  std::vector<Element> entries_;  // L below the diagonal, U from it on, row by row
  std::vector<Element> inverse_of_diagonal_;
};

}  // namespace tempera::reference
