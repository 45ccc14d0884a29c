#include "reference/analysis/stationary_law.hpp"

#include "reference/numbers/linear_system.hpp"

namespace tempera::reference {

std::optional<Law> stationary_law(const Matrix& kernel) {
  const std::size_t n = kernel.rows();
  // The balance equations are dependent, so the normalization takes the place of the last.
  Matrix balance(n, n);
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < n; ++x) {
      balance(y, x) = y + 1 == n ? Rational(1) : Rational(kernel(x, y) - (x == y ? 1 : 0));
    }
  }
  std::vector<Rational> right(n);
  right[n - 1] = 1;
  return solve(balance, right);
}

}  // namespace tempera::reference
