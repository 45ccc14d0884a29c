// The row rule of the arithmetic `integer` (docs/reference/arithmetic.md), naively: exponents are
// tried one by one in double, in which x · 2^e is exact, and sums are of 64 bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace tempera::gpu {

/// X_i = rint(x_i 2^e).
struct NaiveWhole {
  int exponent;
  std::vector<std::int64_t> numbers;
};

inline NaiveWhole naive_whole(const std::vector<float>& x, std::uint64_t most_squares,
                              bool ties_away_from_zero = false) {
  for (int e = 63; e >= -63; --e) {
    NaiveWhole row{e, {}};
    std::uint64_t squares = 0;
    bool fits = true;
    for (const float value : x) {
      const double scaled = std::ldexp(static_cast<double>(value), e);
      // nearbyint goes to even.
      const double number = ties_away_from_zero ? std::round(scaled) : std::nearbyint(scaled);
      fits = std::abs(number) <= 32767;
      if (!fits) break;
      row.numbers.push_back(static_cast<std::int64_t>(number));
      squares += static_cast<std::uint64_t>(row.numbers.back() * row.numbers.back());
    }
    if (!fits || squares > most_squares) continue;
    if (squares == 0) row.exponent = 0;
    return row;
  }
  std::abort();
}

/// float32(Σ a_i b_i) 2^-e, e being those of both. The sum is one of 32 bits.
inline float naive_dot(const NaiveWhole& a, const NaiveWhole& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.numbers.size(); ++i) sum += a.numbers[i] * b.numbers[i];
  if (std::abs(sum) >= std::int64_t{1} << 31) throw std::overflow_error("a sum of products");
  return static_cast<float>(
      std::ldexp(static_cast<double>(static_cast<float>(sum)), -(a.exponent + b.exponent)));
}

}  // namespace tempera::gpu
