#pragma once

#include <cstddef>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// Probabilities of the states of a finite space, in its order.
using Law = std::vector<Rational>;

/// All mass on one state.
inline Law point_mass(std::size_t size, std::size_t state) {
  Law law(size);
  law[state] = 1;
  return law;
}

/// A dense rational matrix; as a kernel, entry (x, y) is the probability of going from x to y.
class Matrix {
 public:
  Matrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), entries_(rows * columns) {}
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  Rational& operator()(std::size_t x, std::size_t y) { return entries_[x * columns_ + y]; }
  const Rational& operator()(std::size_t x, std::size_t y) const {
    return entries_[x * columns_ + y];
  }
  /// Row-major.
  const std::vector<Rational>& entries() const { return entries_; }
  friend bool operator==(const Matrix&, const Matrix&) = default;

 private:
  std::size_t rows_, columns_;
  std::vector<Rational> entries_;
};

/// Sets each diagonal entry so that its row sums to one: what a Metropolis-Hastings kernel leaves
/// for self-proposals and rejections.
inline void complete_rows_on_diagonal(Matrix& kernel) {
  for (std::size_t x = 0; x < kernel.rows(); ++x) {
    Rational elsewhere = 0;
    for (std::size_t y = 0; y < kernel.columns(); ++y) {
      if (y != x) elsewhere += kernel(x, y);
    }
    kernel(x, x) = 1 - elsewhere;
  }
}

}  // namespace tempera::reference
