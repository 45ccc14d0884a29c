#include "reference/analysis/spectral_gap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "reference/numbers/all_cores.hpp"
#include "reference/numbers/interval.hpp"

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

// target(x) (P(x, y) - value 1{x = y}).
Matrix form_of(const Matrix& kernel, const Law& target, const Rational& value) {
  const std::size_t n = kernel.rows();
  Matrix form(n, n);
  for (std::size_t x = 0; x < n; ++x) {
    if (target[x] <= 0) throw Bug("a state without mass");
    for (std::size_t y = 0; y < n; ++y) {
      form(x, y) = target[x] * (kernel(x, y) - (x == y ? value : Rational(0)));
      if (y < x && form(x, y) != form(y, x)) throw Bug("a kernel that is not reversible");
    }
  }
  return form;
}

// Takes multiples of row `pivot` from those below it, in the lower triangle [x][y <= x].
template <class Number>
void eliminate(std::vector<std::vector<Number>>& form, std::size_t pivot) {
  const std::size_t rows = form.size() - pivot - 1;
  const auto work = [&](std::size_t row) {
    const std::size_t x = pivot + 1 + row;
    const Number factor = form[x][pivot] / form[pivot][pivot];
    for (std::size_t y = pivot + 1; y <= x; ++y) {
      // The row of y is left alone in column `pivot`.
      form[x][y] = form[x][y] - factor * form[y][pivot];
    }
  };
  // Threads cost more than they save on few rows of intervals, and on all of doubles.
  if (rows >= 64 && !std::is_same_v<Number, double>) return on_all_cores(rows, work);
  for (std::size_t row = 0; row < rows; ++row) work(row);
}

// The number of eigenvalues above `value` as floating point has it: a guess.
std::size_t guess_above(const std::vector<std::vector<double>>& symmetric, double value) {
  std::vector<std::vector<double>> form = symmetric;
  std::size_t positive = 0;
  for (std::size_t i = 0; i < form.size(); ++i) form[i][i] -= value;
  for (std::size_t i = 0; i < form.size(); ++i) {
    positive += form[i][i] > 0 ? 1 : 0;
    if (form[i][i] == 0) form[i][i] = 1e-300;
    eliminate(form, i);
  }
  return positive;
}

}  // namespace

std::optional<std::size_t> eigenvalues_above_by_intervals(const Matrix& kernel, const Law& target,
                                                          const Rational& value, long bits) {
  const std::size_t n = kernel.rows();
  const Matrix exact = form_of(kernel, target, value);
  std::vector<std::vector<Interval>> form(n);
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = 0; y <= x; ++y) form[x].emplace_back(exact(x, y), bits);
  std::size_t positive = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (form[i][i].is_positive())
      ++positive;
    else if (!form[i][i].is_negative())
      return std::nullopt;
    eliminate(form, i);
  }
  return positive;
}

std::size_t eigenvalues_above(const Matrix& kernel, const Law& target, const Rational& value) {
  const std::size_t n = kernel.rows();
  // Rationals are as quick on few states.
  constexpr std::size_t few = 12;
  if (n > few)
    for (const long bits : {128L, 512L})
      if (const auto count = eigenvalues_above_by_intervals(kernel, target, value, bits))
        return *count;
  Matrix form = form_of(kernel, target, value);
  std::vector<std::size_t> live(n);
  std::iota(live.begin(), live.end(), std::size_t{0});
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
  const std::size_t n = kernel.rows();
  std::vector<std::vector<double>> symmetric(n);
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = 0; y <= x; ++y)
      symmetric[x].push_back(std::sqrt(Rational(kernel(x, y) * kernel(y, x)).convert_to<double>()));
  double least = -1, most = 1;
  for (unsigned i = 0; i < std::min(halvings, 45U); ++i) {
    const double middle = (least + most) / 2;
    (guess_above(symmetric, middle) >= 2 ? least : most) = middle;
  }
  // Cells of the last halving, [-1 + i · cell, -1 + (i + 1) cell]: the guess, then further and
  // further from it.
  const Rational cell = 2 / integer_power(Rational(2), halvings);
  const auto is_below = [&](const Integer& i) {
    return i <= 0 || eigenvalues_above(kernel, target, Rational(i) * cell - 1) >= 2;
  };
  const Integer cells = Integer(1) << halvings;
  Integer lower = Integer(Rational(Rational(least + 1) / cell)), step = 1;
  lower = std::clamp(lower, Integer(0), Integer(cells - 1));
  Integer upper = lower;
  if (is_below(lower)) {
    for (upper = lower + 1; upper < cells && is_below(upper); step *= 2) {
      lower = upper;
      upper = std::min(Integer(upper + step), cells);
    }
  } else {
    for (lower = upper - 1; !is_below(lower); step *= 2) {
      upper = lower;
      lower = std::max(Integer(lower - step), Integer(0));
    }
  }
  while (upper - lower > 1) {
    const Integer middle = (lower + upper) / 2;
    (is_below(middle) ? lower : upper) = middle;
  }
  return {Rational(lower) * cell - 1, Rational(upper) * cell - 1};
}

}  // namespace tempera::reference
