#include "reference/numbers/triangular_factors.hpp"

#include <algorithm>

namespace tempera::reference {

std::optional<TriangularFactors> TriangularFactors::of(const IntegerMatrix& a,
                                                       const PrimeField& field) {
  const std::size_t n = a.size();
  std::vector<Element> upper(n * n);  // U by columns
  TriangularFactors factors(field, n);
  for (std::size_t i = 0; i < n; ++i) {
    Element* const lower = &factors.entries_[i * n];
    for (std::size_t j = 0; j < n; ++j) {
      const Element known = field.dot(lower, &upper[j * n], std::min(i, j));
      const Element rest = field.subtract(field.of(a[i][j]), known);
      if (j < i)
        lower[j] = field.multiply(rest, factors.inverse_of_diagonal_[j]);
      else
        upper[j * n + i] = rest;
    }
    if (upper[i * n + i] == 0) return std::nullopt;
    factors.inverse_of_diagonal_[i] = field.inverse(upper[i * n + i]);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) factors.entries_[i * n + j] = upper[j * n + i];
  return factors;
}

void TriangularFactors::solve(Numbers& b) const {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i)
    b[i] = field_.subtract(b[i], field_.dot(&entries_[i * n], b.data(), i));
  for (std::size_t i = n; i-- > 0;) {
    const Element known = field_.dot(entries_.data() + i * n + i + 1, b.data() + i + 1, n - i - 1);
    b[i] = field_.multiply(field_.subtract(b[i], known), inverse_of_diagonal_[i]);
  }
}

}  // namespace tempera::reference
