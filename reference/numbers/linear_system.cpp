#include "reference/numbers/linear_system.hpp"

#include <utility>

#include "reference/numbers/common_denominator.hpp"

namespace tempera::reference {

// Bareiss elimination on integer rows: each division is exact, and entries stay minors of the
// matrix instead of growing with every step.
std::optional<std::vector<Rational>> solve(const Matrix& a, const std::vector<Rational>& b) {
  const std::size_t n = b.size();
  std::vector<std::vector<Integer>> rows;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Rational> row;
    for (std::size_t j = 0; j < n; ++j) row.push_back(a(i, j));
    row.push_back(b[i]);
    rows.push_back(over_common_denominator(row).numerators);
  }

  Integer previous_pivot = 1;
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    std::size_t found = pivot;
    while (found < n && rows[found][pivot] == 0) ++found;
    if (found == n) return std::nullopt;
    std::swap(rows[pivot], rows[found]);
    for (std::size_t i = pivot + 1; i < n; ++i) {
      for (std::size_t j = pivot + 1; j <= n; ++j) {
        rows[i][j] =
            (rows[i][j] * rows[pivot][pivot] - rows[i][pivot] * rows[pivot][j]) / previous_pivot;
      }
      rows[i][pivot] = 0;
    }
    previous_pivot = rows[pivot][pivot];
  }

  std::vector<Rational> solution(n);
  for (std::size_t i = n; i-- > 0;) {
    Rational rest = rows[i][n];
    for (std::size_t j = i + 1; j < n; ++j) rest -= Rational(rows[i][j]) * solution[j];
    solution[i] = rest / Rational(rows[i][i]);
  }
  return solution;
}

}  // namespace tempera::reference
