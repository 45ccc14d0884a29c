#include "reference/analysis/rounded_gap.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.hpp"
#include "reference/numbers/all_cores.hpp"

namespace tempera::reference {
namespace {

// A bracket is 2^-31 wide and begins at a multiple of 2^-34.
constexpr double width = 0x1p-31;
constexpr double grid = 0x1p-34;
constexpr unsigned most_attempts = 8;
// Rows from which threads save time.
constexpr std::size_t rows_worth_threads = 512;

// √mass = root 2^exponent, off by two roundings: the double of a fraction by two, halved, and one.
struct ScaledRoot {
  double root;
  int exponent;
};

ScaledRoot root_of(const Rational& mass) {
  const Integer top = numerator(mass), bottom = denominator(mass);
  const int even = 2 * ((static_cast<int>(msb(top)) - static_cast<int>(msb(bottom))) / 2);
  const Rational scaled = even < 0 ? Rational(top << static_cast<unsigned>(-even), bottom)
                                   : Rational(top, bottom << static_cast<unsigned>(even));
  return {std::sqrt(scaled.convert_to<double>()), even / 2};
}

double dot(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (std::size_t x = 0; x < a.size(); ++x) sum += a[x] * b[x];
  return sum;
}

// B = S - 2 v vᵀ, where v = √π, D = diag(v), and S is M = D P D⁻¹ or M Mᵀ. S has the eigenvalue 1
// with the vector v, which B has at -1, so that the largest eigenvalue of B is the second of S.
struct Deflated {
  Doubles entries;
  double error;  // of norm
};

Deflated deflated(RoundedMatrix kernel, const Law& target, Reversible meant) {
  const std::size_t n = target.size();
  std::vector<ScaledRoot> roots;
  for (const Rational& mass : target) roots.push_back(root_of(mass));
  // Since π(x) P(x, y) <= π(y), an entry of M is at most √P(x, y). Those of P below 2^-900 can
  // be left out, therefore: they change the norm by less than n 2^-450. Above that the numbers that
  // were too small for a double are less than a rounding.
  constexpr double smallest = 0x1p-900;
  on_all_cores(
      n,
      [&](std::size_t x) {
        for (std::size_t y = 0; y < n; ++y) {
          double& entry = kernel.entries[x * n + y];
          entry = entry < smallest ? 0
                                   : std::ldexp(entry * (roots[x].root / roots[y].root),
                                                roots[x].exponent - roots[y].exponent);
        }
      },
      rows_worth_threads);
  // Two roundings of each root, one each of the quotient and the product, one for small numbers.
  std::size_t roundings = kernel.roundings + 7;
  Doubles symmetric = std::move(kernel.entries);
  if (meant == Reversible::with_reverse) {
    symmetric = times_transpose(symmetric, n);
    roundings = 2 * roundings + product_roundings(n) + 1;
  }
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = 0; y <= x; ++y) {
      // One number for both places: the two differ by roundings where P itself is reversible.
      const double both =
          std::ldexp(2 * roots[x].root * roots[y].root, roots[x].exponent + roots[y].exponent);
      symmetric[x * n + y] -= both;
      symmetric[y * n + x] = symmetric[x * n + y];
    }
  // S has no negative entry and the norm 1, so that a share of each entry is a share of the norm;
  // so have v vᵀ, with five roundings taken twice, and the last subtraction, of S + 2 v vᵀ.
  return {std::move(symmetric), share_of(roundings + 10 + 3 + 1)};
}

// xᵀ B x / xᵀ x, which is at most the largest eigenvalue of B whatever x is. Lanczos' steps by the
// inverse of L Lᵀ propose x, from a start that the attempt's number draws.
double largest_quotient(const Doubles& factor, const Doubles& deflated, std::size_t n,
                        unsigned attempt) {
  constexpr std::size_t most_steps = 64;
  std::mt19937_64 words(attempt);
  std::vector<Doubles> basis(1, Doubles(n));
  for (double& number : basis.front()) number = static_cast<double>(words() >> 11U) * 0x1p-52 - 1;
  const auto normalise = [](Doubles& vector) {
    const double length = std::sqrt(dot(vector, vector));
    for (double& number : vector) number /= length;
    return length;
  };
  normalise(basis.front());
  const std::size_t steps = std::min(n, most_steps);
  Doubles small(steps * steps);
  double scale = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    Doubles next = basis[step];
    solve(factor, next);
    const Doubles image = next;
    // Twice, as once leaves what cancels.
    for (int again = 0; again < 2; ++again)
      for (const Doubles& vector : basis) {
        const double share = dot(next, vector);
        for (std::size_t x = 0; x < n; ++x) next[x] -= share * vector[x];
      }
    for (std::size_t i = 0; i <= step; ++i)
      small[i * steps + step] = small[step * steps + i] = dot(image, basis[i]);
    scale = std::max(scale, small[step * steps + step]);
    if (step + 1 == steps || normalise(next) < 1e-14 * scale) break;
    basis.push_back(std::move(next));
  }
  // The eigenvector of the projected inverse's largest eigenvalue: squared again and again, the
  // matrix has no other column.
  for (int squaring = 0; squaring < 48; ++squaring) {
    small = product(small, steps, small, steps);
    const double largest = *std::max_element(
        small.begin(), small.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (double& number : small) number /= largest;
  }
  std::size_t column = 0;
  for (std::size_t i = 1; i < basis.size(); ++i)
    if (small[i * steps + i] > small[column * steps + column]) column = i;
  Doubles vector(n);
  for (std::size_t i = 0; i < basis.size(); ++i)
    for (std::size_t x = 0; x < n; ++x) vector[x] += small[i * steps + column] * basis[i][x];
  Doubles image(n);
  on_all_cores(
      n,
      [&](std::size_t x) {
        for (std::size_t y = 0; y < n; ++y) image[x] += deflated[x * n + y] * vector[y];
      },
      rows_worth_threads);
  return dot(vector, image) / dot(vector, vector);
}

// Such a quotient is off by 2 n roundings of a sum over |x|ᵀ |B| |x| <= 3 xᵀ x, by n of xᵀ x, and
// by one of its own; it is at most 1.
double quotient_error(std::size_t n) { return share_of(3 * (2 * n + 2) + n + 2); }

}  // namespace

Bracket rounded_second_eigenvalue(RoundedMatrix kernel, const Law& target, Reversible meant) {
  const std::size_t n = target.size();
  const Deflated b = deflated(std::move(kernel), target, meant);
  constexpr double above_all = 1 + 0x1p-28;
  double trace = 0;
  for (std::size_t x = 0; x < n; ++x) trace += above_all - b.entries[x * n + x];
  // By how much an eigenvalue may be above `at` <= above_all though at - B has a factor: one
  // rounding of at - B(x, x), at most 4, two of `at` itself, and those of the trace.
  const double error = b.error + share_of(6) + factor_error(n, trace * (1 + share_of(n + 1)));
  const double low_error = b.error + quotient_error(n);
  Doubles factor;
  const auto is_above = [&](double at) {
    Doubles shifted = b.entries;
    for (double& number : shifted) number = -number;
    for (std::size_t x = 0; x < n; ++x) shifted[x * n + x] += at;
    if (!factorise(shifted, n)) return false;
    factor = std::move(shifted);
    return true;
  };
  if (!is_above(above_all)) throw Bug("a kernel that does not preserve its target");
  // No eigenvalue is above 1.
  double most = 1;
  for (unsigned attempt = 0;; ++attempt) {
    const double found = largest_quotient(factor, b.entries, n, attempt);
    const double begin = std::round((found + 1 - width / 2) / grid) * grid - 1;
    if (std::max(error, low_error) > width / 4) throw Bug("errors beyond a bracket's width");
    const double least = std::max(begin, -1.0);
    double step = width;
    while (begin + step < most && !is_above(begin + step - error)) step *= 4;
    most = std::min(most, begin + step);
    if (step == width || attempt == most_attempts) return {Rational(least), Rational(most)};
  }
}

}  // namespace tempera::reference
