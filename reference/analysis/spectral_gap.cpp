#include "reference/analysis/spectral_gap.hpp"

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tempera::reference {
namespace {

// Makes some diagonal entry of the live part nonzero, by a congruence; nothing if the part is zero.
std::optional<std::size_t> pivot_among(Matrix& form, const std::vector<std::size_t>& live) {
  for (const std::size_t i : live)
    if (form(i, i) != 0) return i;
  for (const std::size_t i : live)
    for (const std::size_t j : live) {
      if (form(i, j) == 0) continue;
      for (const std::size_t k : live) form(i, k) += form(j, k);
      for (const std::size_t k : live) form(k, i) += form(k, j);
      return i;
    }
  return std::nullopt;
}

}  // namespace

std::size_t eigenvalues_above(const Matrix& kernel, const Law& target, const Rational& value) {
  const std::size_t n = kernel.rows();
  Matrix form(n, n);
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = 0; y < n; ++y)
      form(x, y) = target[x] * (kernel(x, y) - (x == y ? value : Rational(0)));
  std::vector<std::size_t> live;
  for (std::size_t x = 0; x < n; ++x) {
    if (target[x] <= 0) throw std::invalid_argument("a state without mass");
    for (std::size_t y = 0; y < x; ++y)
      if (form(x, y) != form(y, x)) throw std::invalid_argument("a kernel that is not reversible");
    live.push_back(x);
  }
  std::size_t positive = 0;
  while (const auto pivot = pivot_among(form, live)) {
    const std::size_t i = *pivot;
    positive += form(i, i) > 0 ? 1 : 0;
    std::erase(live, i);
    for (const std::size_t x : live) {
      if (form(x, i) == 0) continue;
      const Rational factor = form(x, i) / form(i, i);
      for (const std::size_t y : live)
        if (form(i, y) != 0) form(x, y) -= factor * form(i, y);
    }
  }
  return positive;
}

Bracket second_eigenvalue(const Matrix& kernel, const Law& target, unsigned halvings) {
  Bracket bracket{-1, 1};
  // -1 itself may be the eigenvalue; nothing is below it.
  for (unsigned i = 0; i < halvings; ++i) {
    const Rational middle = (bracket.lower + bracket.upper) / 2;
    (eigenvalues_above(kernel, target, middle) >= 2 ? bracket.lower : bracket.upper) = middle;
  }
  return bracket;
}

}  // namespace tempera::reference
