#include "lab/stationary_law.hpp"

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "reference/numbers/prime_field.hpp"

namespace tempera::lab {
namespace {

using reference::Integer;
using reference::PrimeField;
using reference::Rational;
using Element = PrimeField::Element;

/// y_i = cofactors (up to one common sign) of the last column: y A = 0 with y_{n−1} = det of the
/// minor that drops the last row and column. A given row by row, modulo p.
/// Returns nothing where that minor is singular modulo p.
std::vector<Element> cofactors(const std::vector<std::vector<Integer>>& a,
                               const PrimeField& field) {
  // Solve z M = −b for the (n−1)×(n−1) minor M (transposed: M^T z = −b^T), b the last row.
  const std::size_t n = a.size() - 1;
  std::vector<std::vector<Element>> system(n, std::vector<Element>(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) system[i][j] = field.of(a[j][i]);
    system[i][n] = field.subtract(0, field.of(a[n][i]));
  }
  Element determinant = field.one();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    while (pivot < n && system[pivot][c] == 0) ++pivot;
    if (pivot == n) return {};
    if (pivot != c) {
      std::swap(system[pivot], system[c]);
      determinant = field.subtract(0, determinant);
    }
    determinant = field.multiply(determinant, system[c][c]);
    const Element inverse = field.inverse(system[c][c]);
    for (std::size_t j = c; j <= n; ++j) system[c][j] = field.multiply(system[c][j], inverse);
    for (std::size_t i = c + 1; i < n; ++i) {
      const Element factor = system[i][c];
      if (factor == 0) continue;
      for (std::size_t j = c; j <= n; ++j)
        system[i][j] = field.subtract(system[i][j], field.multiply(factor, system[c][j]));
    }
  }
  std::vector<Element> y(n + 1, determinant);
  for (std::size_t i = n; i-- > 0;) {
    Element z = system[i][n];
    for (std::size_t j = i + 1; j < n; ++j)
      z = field.subtract(z, field.multiply(system[i][j], system[j][n]));
    system[i][n] = z;
    y[i] = field.multiply(z, determinant);
  }
  return y;
}

}  // namespace

reference::Law exact_stationary_law(const reference::Matrix& p) {
  const std::size_t n = p.rows();
  std::vector<std::vector<Integer>> a(n, std::vector<Integer>(n));
  std::vector<Integer> scale(n, 1);
  std::size_t bits = 2;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) scale[i] = lcm(scale[i], Integer(denominator(p(i, j))));
    for (std::size_t j = 0; j < n; ++j)
      a[i][j] = Integer(
          numerator(Rational((i == j ? Rational(1) : Rational(0)) - p(i, j)) * Rational(scale[i])));
    // The absolute row sum is at most 2·scale, which bounds every minor by their product.
    bits += msb(scale[i]) + 2;
  }
  // A regular minor vanishes modulo few primes; one that vanishes modulo `spare` of them is zero.
  constexpr std::size_t spare = 4;
  std::vector<Integer> y(n, 0);
  Integer modulus = 1;
  std::size_t singular = 0;
  for (const PrimeField& field :
       reference::prime_fields(bits + 62 * spare, [](std::uint64_t) { return true; })) {
    const std::vector<Element> residue = cofactors(a, field);
    if (residue.empty()) {
      if (++singular == spare)
        throw std::domain_error("the chain is reducible: it has no unique stationary law");
      continue;
    }
    const Element inverse = field.inverse(field.of(modulus));
    for (std::size_t i = 0; i < n; ++i) {
      const Element missing = field.subtract(residue[i], field.of(y[i]));
      y[i] += modulus * Integer(field.number(field.multiply(missing, inverse)));
    }
    modulus *= Integer(field.prime());
    if (msb(modulus) > bits) break;
  }
  std::vector<Integer> weight(n);
  Integer total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    // No minor of I − P that counts here is below 0 (a singular M-matrix): none stands as a residue
    // of a negative number.
    weight[i] = y[i] * scale[i];
    total += weight[i];
  }
  reference::Law law;
  for (const Integer& w : weight) law.emplace_back(w, total);
  return law;
}

}  // namespace tempera::lab
