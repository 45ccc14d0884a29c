#include "reference/numbers/rounded_products.hpp"

#include <cmath>
#include <random>

#include "tests/catch.hpp"

using namespace tempera::reference;

namespace {

Doubles drawn(std::size_t size, unsigned seed) {
  std::mt19937_64 words(seed);
  Doubles numbers(size);
  for (double& number : numbers) number = static_cast<double>(words() >> 11U) * 0x1p-53;
  return numbers;
}

// A sum of sums of 128 products, one after the other.
double by_blocks(const Doubles& a, std::size_t x, const Doubles& b, std::size_t y, std::size_t n) {
  double sum = 0;
  for (std::size_t from = 0; from < n; from += 128) {
    double block = 0;
    for (std::size_t k = from; k < std::min(from + 128, n); ++k)
      block += a[x * n + k] * b[k * n + y];
    sum += block;
  }
  return sum;
}

// Every pair of states is joined by `between`, and each to itself by `alone` more: `alone`, and one
// eigenvalue alone + n between.
Doubles joined(std::size_t n, double alone, double between) {
  Doubles matrix(n * n, between);
  for (std::size_t x = 0; x < n; ++x) matrix[x * n + x] += alone;
  return matrix;
}

}  // namespace

TEST_CASE("products add the same numbers in the same order, whatever the size and the processor") {
  for (const std::size_t n : {1U, 7U, 8U, 33U, 128U, 130U}) {
    const std::size_t rows = n / 2 + 1;
    const Doubles a = drawn(rows * n, 1), b = drawn(n * n, 2);
    const Doubles found = product(a, rows, b, n);
    REQUIRE(found.size() == rows * n);
    bool equal = true;
    for (std::size_t x = 0; x < rows; ++x)
      for (std::size_t y = 0; y < n; ++y) equal &= found[x * n + y] == by_blocks(a, x, b, y, n);
    CHECK(equal);
    Doubles turned(n * n);
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y) turned[y * n + x] = b[x * n + y];
    CHECK(times_transpose(b, n) == product(b, n, turned, n));
  }
  CHECK(product_roundings(1) == 2);
  CHECK(product_roundings(128) == 129);
  CHECK(product_roundings(4096) == 160);
}

TEST_CASE("a positive matrix has its factor, and one that is not has none") {
  for (const std::size_t n : {1U, 2U, 64U, 65U, 129U, 193U}) {
    CAPTURE(n);
    // Positive and far from a multiple of the identity: b bᵀ and a little more.
    Doubles matrix = times_transpose(drawn(n * n, 3), n);
    double trace = 0;
    for (std::size_t x = 0; x < n; ++x) trace += matrix[x * n + x] += 1;
    Doubles factor = matrix;
    REQUIRE(factorise(factor, n));
    double squares = 0;
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y <= x; ++y) {
        long double rest = matrix[x * n + y];
        for (std::size_t k = 0; k <= y; ++k)
          rest -= static_cast<long double>(factor[x * n + k]) * factor[y * n + k];
        squares += (x == y ? 1 : 2) * static_cast<double>(rest * rest);
      }
    CHECK(std::sqrt(squares) <= factor_error(n, trace));
    CHECK(factor_error(n, trace) < 1e-9);
    Doubles image = drawn(n, 4);
    const Doubles vector = image;
    for (std::size_t x = 0; x < n; ++x) {
      image[x] = 0;
      for (std::size_t y = 0; y < n; ++y) image[x] += matrix[x * n + y] * vector[y];
    }
    solve(factor, image);
    for (std::size_t x = 0; x < n; ++x) CHECK(std::abs(image[x] - vector[x]) < 1e-9);
    // One eigenvalue, of the vector of ones, on either side of 0.
    const double least = 0x1p-30;
    for (const double sign : {1.0, -1.0}) {
      Doubles narrow = joined(n, 1, -(1 - sign * least) / static_cast<double>(n));
      CHECK(factorise(narrow, n) == (sign > 0));
    }
  }
}
