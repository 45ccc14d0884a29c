#include "reference/numbers/rounded_products.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "reference/numbers/all_cores.hpp"

namespace tempera::reference {
namespace {

constexpr std::size_t product_block = 128;
constexpr std::size_t factor_block = 64;
// So many strips of rows share a strip of columns in the first cache.
constexpr std::size_t tile = 8;
constexpr std::size_t strips_at_once = 4;
// Rows of a block that take longer than a thread takes to begin.
constexpr std::size_t worth_threads = 512;

std::size_t parts_of(std::size_t size, std::size_t part) { return (size + part - 1) / part; }

// Vectors of `depth` numbers in strips of `tile` of them, number by number; zeros fill the last.
struct Strips {
  std::size_t count, depth;
  Doubles numbers;

  template <class Number>
  Strips(std::size_t vectors, std::size_t of_each, const Number& number)
      : count(vectors), depth(of_each), numbers(parts_of(vectors, tile) * tile * of_each) {
    for (std::size_t i = 0; i < vectors; ++i)
      for (std::size_t k = 0; k < depth; ++k)
        numbers[(i / tile * depth + k) * tile + i % tile] = number(i, k);
  }
  std::size_t strips() const { return parts_of(count, tile); }
  const double* strip(std::size_t s) const { return &numbers[s * depth * tile]; }
};

using Tile = std::array<std::array<double, tile>, tile>;

// Sums of quarters, which 16 registers of two numbers hold.
void plain_tile(Tile& sums, const double* left, const double* right, std::size_t depth) {
  constexpr std::size_t part = tile / 2;
  for (std::size_t i = 0; i < tile; i += part)
    for (std::size_t j = 0; j < tile; j += part) {
      double quarter[part][part] = {};
      for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t r = 0; r < part; ++r)
          for (std::size_t c = 0; c < part; ++c)
            quarter[r][c] += left[k * tile + i + r] * right[k * tile + j + c];
      for (std::size_t r = 0; r < part; ++r)
        std::copy_n(quarter[r], part, sums[i + r].begin() + static_cast<long>(j));
    }
}

#ifdef __x86_64__
// The same numbers added in the same order, in 32 registers of four.
__attribute__((target("avx512vl"))) void wide_tile(Tile& sums, const double* left,
                                                   const double* right, std::size_t depth) {
  typedef double Four __attribute__((vector_size(32)));
  Four low[tile] = {}, high[tile] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    Four first, second;
    std::memcpy(&first, right + k * tile, sizeof first);
    std::memcpy(&second, right + k * tile + tile / 2, sizeof second);
    for (std::size_t i = 0; i < tile; ++i) {
      low[i] += left[k * tile + i] * first;
      high[i] += left[k * tile + i] * second;
    }
  }
  for (std::size_t i = 0; i < tile; ++i) {
    std::memcpy(sums[i].data(), &low[i], sizeof low[i]);
    std::memcpy(sums[i].data() + tile / 2, &high[i], sizeof high[i]);
  }
}

const auto tile_of = __builtin_cpu_supports("avx512vl") != 0 ? wide_tile : plain_tile;
#else
constexpr auto tile_of = plain_tile;
#endif

// out(i, j) += sign Σ_k left(i, k) right(j, k); of j <= i alone if `is_lower`, and a few more.
void add_products(double* out, std::size_t stride, const Strips& left, const Strips& right,
                  double sign, bool is_lower) {
  const std::size_t parts = parts_of(left.strips(), strips_at_once);
  const auto work = [&](std::size_t part) {
    const std::size_t first = part * strips_at_once;
    const std::size_t last = std::min(first + strips_at_once, left.strips());
    for (std::size_t t = 0; t < (is_lower ? last : right.strips()); ++t)
      for (std::size_t s = first; s < last; ++s) {
        Tile sums;
        tile_of(sums, left.strip(s), right.strip(t), left.depth);
        for (std::size_t i = s * tile; i < std::min(left.count, (s + 1) * tile); ++i)
          for (std::size_t j = t * tile; j < std::min(right.count, (t + 1) * tile); ++j)
            out[i * stride + j] += sign * sums[i % tile][j % tile];
      }
  };
  on_all_cores(parts, work, right.count < worth_threads ? parts + 1 : 2);
}

}  // namespace

std::size_t product_roundings(std::size_t inner) {
  return std::min(inner, product_block) + parts_of(inner, product_block);
}

Doubles product(const Doubles& a, std::size_t rows, const Doubles& b, std::size_t n) {
  Doubles result(rows * n);
  for (std::size_t from = 0; from < n; from += product_block) {
    const std::size_t depth = std::min(product_block, n - from);
    const Strips left(rows, depth,
                      [&](std::size_t i, std::size_t k) { return a[i * n + from + k]; });
    const Strips right(n, depth,
                       [&](std::size_t j, std::size_t k) { return b[(from + k) * n + j]; });
    add_products(result.data(), n, left, right, 1, false);
  }
  return result;
}

Doubles times_transpose(const Doubles& a, std::size_t n) {
  Doubles result(n * n);
  for (std::size_t from = 0; from < n; from += product_block) {
    const Strips rows(n, std::min(product_block, n - from),
                      [&](std::size_t i, std::size_t k) { return a[i * n + from + k]; });
    add_products(result.data(), n, rows, rows, 1, true);
  }
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = 0; y < x; ++y) result[y * n + x] = result[x * n + y];
  return result;
}

bool factorise(Doubles& symmetric, std::size_t n) {
  double* const a = symmetric.data();
  for (std::size_t from = 0; from < n; from += factor_block) {
    const std::size_t to = std::min(from + factor_block, n);
    const auto finish = [&](std::size_t x) {
      for (std::size_t y = from; y < std::min(to, x + 1); ++y) {
        double rest = a[x * n + y];
        for (std::size_t k = from; k < y; ++k) rest -= a[x * n + k] * a[y * n + k];
        a[x * n + y] = x == y ? std::sqrt(rest) : rest / a[y * n + y];
      }
    };
    for (std::size_t x = from; x < to; ++x) {
      finish(x);
      // False of the root of a negative number too.
      if (!(a[x * n + x] > 0)) return false;
    }
    on_all_cores(
        n - to, [&](std::size_t row) { finish(to + row); }, worth_threads);
    const Strips rows(n - to, to - from,
                      [&](std::size_t i, std::size_t k) { return a[(to + i) * n + from + k]; });
    if (to < n) add_products(a + to * n + to, n, rows, rows, -1, true);
  }
  return true;
}

double factor_error(std::size_t n, double trace) {
  // A product: itself, the block's additions, the later blocks, the columns of the last one; and
  // a root or a quotient.
  const double share = share_of(2 * std::min(n, factor_block) + parts_of(n, factor_block) + 2);
  return share / (1 - share) * trace;
}

void solve(const Doubles& factor, Doubles& b) {
  const std::size_t n = b.size();
  for (std::size_t x = 0; x < n; ++x) {
    for (std::size_t y = 0; y < x; ++y) b[x] -= factor[x * n + y] * b[y];
    b[x] /= factor[x * n + x];
  }
  for (std::size_t x = n; x-- > 0;) {
    b[x] /= factor[x * n + x];
    for (std::size_t y = 0; y < x; ++y) b[y] -= factor[x * n + y] * b[x];
  }
}

}  // namespace tempera::reference
