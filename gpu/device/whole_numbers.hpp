#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "gpu/device/float_lanes.hpp"
#include "gpu/device/whole_number.hpp"

// Rows of floats as whole numbers of 16 bits, in vectors of the host.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// whole_number of each.
inline IntegerRegister whole_numbers(FloatRegister x, FloatRegister power) {
  const FloatRegister shifted = x * power + broadcast_register(0x1.8p+23f);
  return reinterpret_cast<IntegerRegister>(shifted) - 0x4B400000;
}

/// The bits of the largest |x_i|, which are in order as the numbers are; those of infinities and
/// NaNs are the largest.
inline std::int32_t largest_magnitude(const float* x, std::size_t size) {
  IntegerRegister most{};
  std::size_t i = 0;
  for (; i + register_lanes <= size; i += register_lanes) {
    const auto bits = reinterpret_cast<IntegerRegister>(load_register(x + i)) & 0x7FFFFFFF;
    most = bits > most ? bits : most;
  }
  std::int32_t largest = 0;
  for (std::size_t lane = 0; lane < register_lanes; ++lane) {
    largest = most[lane] > largest ? most[lane] : largest;
  }
  for (; i < size; ++i) {
    std::int32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bits &= 0x7FFFFFFF;
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

/// Σ rint(x_i · 2^e)^2.
inline std::uint64_t whole_squares(const float* x, std::size_t size, int exponent) {
  const float power = power_of_two(exponent);
  const FloatRegister powers = broadcast_register(power);
  std::uint64_t sum = 0;
  // A square has 30 bits: its halves are summed apart, so often as 32 bits hold.
  constexpr std::size_t most = std::size_t{1} << 14;
  std::size_t i = 0;
  while (i + register_lanes <= size) {
    BitsRegister low{};
    BitsRegister high{};
    const std::size_t end = size - i < most ? size : i + most;
    for (; i + register_lanes <= end; i += register_lanes) {
      const IntegerRegister whole = whole_numbers(load_register(x + i), powers);
      const auto square = reinterpret_cast<BitsRegister>(whole * whole);
      low += square & 0xFFFFU;
      high += square >> 16;
    }
    for (std::size_t lane = 0; lane < register_lanes; ++lane) {
      sum += low[lane] + (std::uint64_t{high[lane]} << 16);
    }
  }
  for (; i < size; ++i) {
    const std::int64_t whole = whole_number(x[i], power);
    sum += static_cast<std::uint64_t>(whole * whole);
  }
  return sum;
}

/// The row with the largest exponent for which every |X_i| <= 32767 and Σ X_i^2 <= most_squares;
/// 0 if all X_i are 0.
inline WholeRow whole_row(const float* x, std::size_t size, std::uint64_t most_squares) {
  const std::int32_t largest = largest_magnitude(x, size);
  if (largest >= 0x7F800000) return {0, 0, false};
  int exponent = exponent_of_largest(largest);
  if (exponent < -largest_exponent) return {0, 0, false};
  std::uint64_t squares = whole_squares(x, size, exponent);
  if (squares > most_squares) {
    // Dividing by 2^d and rounding again moves each number by at most 3/4: what the norm says is
    // too much even so need not be tried.
    const double norm = sqrt(static_cast<double>(squares));
    const double bound =
        sqrt(static_cast<double>(most_squares)) + 1.0 + 0.75 * sqrt(static_cast<double>(size));
    int down = 1;
    while (norm > bound * static_cast<double>(std::uint64_t{1} << down)) ++down;
    while (exponent - down >= -largest_exponent &&
           (squares = whole_squares(x, size, exponent - down)) > most_squares) {
      ++down;
    }
    exponent -= down;
  }
  if (exponent < -largest_exponent) return {0, 0, false};
  return {squares == 0 ? 0 : exponent, squares, true};
}

/// Stores whole numbers of 16 bits.
inline void store_shorts(IntegerRegister numbers, std::int16_t* targets) {
  typedef std::int16_t ShortRegister __attribute__((vector_size(2 * register_lanes)));
  typedef ShortRegister ShortsInMemory __attribute__((aligned(2), may_alias));
  *reinterpret_cast<ShortsInMemory*>(targets) = __builtin_convertvector(numbers, ShortRegister);
}

/// targets[i] = X_i; zeros if the row does not fit.
inline void store_whole_row(const WholeRow& row, const float* x, std::size_t size,
                            std::int16_t* targets) {
  if (!row.fits) {
    for (std::size_t i = 0; i < size; ++i) targets[i] = 0;
    return;
  }
  const float power = power_of_two(row.exponent);
  std::size_t i = 0;
  for (; i + register_lanes <= size; i += register_lanes) {
    store_shorts(whole_numbers(load_register(x + i), broadcast_register(power)), targets + i);
  }
  for (; i < size; ++i) targets[i] = static_cast<std::int16_t>(whole_number(x[i], power));
}

/// The mean of a row's squares: of its whole numbers, exact, and rounded once before it is scaled
/// and divided.
inline float whole_mean_of_squares(const float* x, std::size_t size) {
  const WholeRow row = whole_row(x, size, input_squares);
  const float step = row.step();
  return static_cast<float>(row.squares) * (step * step) / static_cast<float>(size);
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
