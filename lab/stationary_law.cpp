#include "lab/stationary_law.hpp"

#include <gmp.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace tempera::lab {
namespace {

using reference::Integer;
using reference::Rational;
__extension__ using Wide = unsigned __int128;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t p) {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % p);
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t p) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base = multiply(base, base, p))
    if (exponent & 1U) result = multiply(result, base, p);
  return result;
}

std::uint64_t remainder_of(const Integer& value, std::uint64_t p) {
  return mpz_fdiv_ui(value.backend().data(), p);
}

/// y_i = cofactors (up to one common sign) of the last column: y A = 0 with y_{n−1} = det of the
/// minor that drops the last row and column. A given row by row, modulo p.
/// Returns nothing where that minor is singular modulo p.
std::vector<std::uint64_t> cofactors_modulo(std::vector<std::vector<std::uint64_t>> a,
                                            std::uint64_t p) {
  // Solve z M = −b for the (n−1)×(n−1) minor M (transposed: M^T z = −b^T), b the last row.
  const std::size_t n = a.size() - 1;
  std::vector<std::vector<std::uint64_t>> system(n, std::vector<std::uint64_t>(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) system[i][j] = a[j][i];
    system[i][n] = a[n][i] == 0 ? 0 : p - a[n][i];
  }
  std::uint64_t determinant = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    while (pivot < n && system[pivot][c] == 0) ++pivot;
    if (pivot == n) return {};
    if (pivot != c) {
      std::swap(system[pivot], system[c]);
      determinant = p - determinant;
    }
    determinant = multiply(determinant, system[c][c], p);
    const std::uint64_t inverse = power(system[c][c], p - 2, p);
    for (std::size_t j = c; j <= n; ++j) system[c][j] = multiply(system[c][j], inverse, p);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t factor = system[i][c];
      if (i == c || factor == 0) continue;
      for (std::size_t j = c; j <= n; ++j) {
        const std::uint64_t product = multiply(factor, system[c][j], p);
        system[i][j] =
            system[i][j] >= product ? system[i][j] - product : system[i][j] + (p - product);
      }
    }
  }
  std::vector<std::uint64_t> y;
  for (std::size_t i = 0; i < n; ++i) y.push_back(multiply(system[i][n], determinant, p));
  y.push_back(determinant);
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
  std::vector<Integer> y(n, 0);
  Integer modulus = 1;
  std::size_t singular = 0;
  Integer candidate = Integer(1) << 62;
  while (msb(modulus) <= bits) {
    mpz_nextprime(candidate.backend().data(), candidate.backend().data());
    const auto prime = static_cast<std::uint64_t>(candidate);
    std::vector<std::vector<std::uint64_t>> reduced(n, std::vector<std::uint64_t>(n));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) reduced[i][j] = remainder_of(a[i][j], prime);
    const std::vector<std::uint64_t> residue = cofactors_modulo(std::move(reduced), prime);
    if (residue.empty()) {
      // A regular minor vanishes modulo few primes; one that vanishes modulo all is zero.
      if (++singular > 3 && modulus == 1)
        throw std::domain_error("the chain is reducible: it has no unique stationary law");
      continue;
    }
    const std::uint64_t inverse = power(remainder_of(modulus, prime), prime - 2, prime);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t known = remainder_of(y[i], prime);
      const std::uint64_t missing =
          residue[i] >= known ? residue[i] - known : residue[i] + (prime - known);
      y[i] += modulus * Integer(multiply(missing, inverse, prime));
    }
    modulus *= Integer(prime);
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
