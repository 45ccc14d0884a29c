#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/simt/simt.hpp"
#include "gpu/device/whole_number.hpp"

// Rows of floats as whole numbers, each row by a warp or by a block: what whole_row of
// gpu/device/whole_numbers.hpp gives. Sums of whole numbers have no order, so that no thread's part
// of a row changes a bit.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// The lanes of a warp that have a row together.
struct LanesOfRow {
  static constexpr unsigned threads = simt::warp_lanes;
  TEMPERA_ON_DEVICE static unsigned thread() { return simt::lane(); }
  /// Joins the values of all of them; every one gets the result.
  template <class Value, class Join>
  TEMPERA_ON_DEVICE Value all(Value own, const Join& join) const {
    TEMPERA_UNROLL
    for (unsigned half = simt::warp_lanes / 2; half > 0; half /= 2) {
      own = join(own, simt::shuffle_xor(own, half));
    }
    return own;
  }
};

/// The threads of a block that have a row together.
template <unsigned Threads>
struct BlockOfRow {
  static constexpr unsigned threads = Threads;
  static constexpr unsigned warps = Threads / simt::warp_lanes;
  static constexpr unsigned room_words = warps;
  std::uint64_t* room;  // [room_words], in shared memory

  TEMPERA_ON_DEVICE static unsigned thread() { return simt::thread(); }
  template <class Value, class Join>
  TEMPERA_ON_DEVICE Value all(Value own, const Join& join) const {
    static_assert(sizeof(Value) <= sizeof *room);
    own = LanesOfRow().all(own, join);
    auto* const values = reinterpret_cast<Value*>(room);
    if (simt::lane() == 0) values[simt::warp()] = own;
    simt::barrier();
    Value joined = values[0];
    for (unsigned warp = 1; warp < warps; ++warp) joined = join(joined, values[warp]);
    simt::barrier();  // before the room is written to again
    return joined;
  }
};

/// The row with the largest exponent for which every |X_i| <= 32767 and Σ X_i^2 <= most_squares; 0
/// if all X_i are 0. By all threads that have the row, and every one gets it.
template <class Threads>
TEMPERA_ON_DEVICE inline WholeRow whole_row_by(const Threads& threads, const float* x,
                                               unsigned size, std::uint64_t most_squares) {
  std::int32_t largest = 0;
  TEMPERA_NO_UNROLL
  for (unsigned i = threads.thread(); i < size; i += Threads::threads) {
    std::int32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bits &= 0x7FFFFFFF;
    largest = bits > largest ? bits : largest;
  }
  largest = threads.all(largest, [](std::int32_t a, std::int32_t b) { return a > b ? a : b; });
  if (largest >= 0x7F800000) return {0, 0, false};
  // Each exponent less takes the squares to about a quarter: few are tried.
  TEMPERA_NO_UNROLL
  for (int exponent = exponent_of_largest(largest); exponent >= -largest_exponent; --exponent) {
    const float power = power_of_two(exponent);
    std::uint64_t squares = 0;
    TEMPERA_NO_UNROLL
    for (unsigned i = threads.thread(); i < size; i += Threads::threads) {
      const std::int32_t whole = whole_number(x[i], power);
      squares += static_cast<std::uint32_t>(whole * whole);
    }
    squares = threads.all(squares, [](std::uint64_t a, std::uint64_t b) { return a + b; });
    if (squares <= most_squares) return {squares == 0 ? 0 : exponent, squares, true};
  }
  return {0, 0, false};
}

/// X_i of the row; 0 if it does not fit.
TEMPERA_ON_DEVICE inline std::int32_t number_of_row(const WholeRow& row, float x) {
  return row.fits ? whole_number(x, power_of_two(row.exponent)) : 0;
}

/// Two numbers of 16 bits in a word, the earlier in its lower half.
TEMPERA_ON_DEVICE inline std::uint32_t word_of_pair(std::int32_t earlier, std::int32_t later) {
  return (static_cast<std::uint32_t>(earlier) & 0xFFFFU) | static_cast<std::uint32_t>(later) << 16;
}

/// a_0 · b_0 + a_1 · b_1, modulo 2^32, in which sums of such pairs are exact whatever their order.
TEMPERA_ON_DEVICE inline std::uint32_t product_of_pairs(std::uint32_t a, std::uint32_t b) {
  const auto lower = [](std::uint32_t word) {
    return static_cast<std::int32_t>(static_cast<std::int16_t>(word & 0xFFFFU));
  };
  const auto upper = [](std::uint32_t word) { return static_cast<std::int32_t>(word) >> 16; };
  return static_cast<std::uint32_t>(lower(a) * lower(b)) +
         static_cast<std::uint32_t>(upper(a) * upper(b));
}

/// The factor that normalises a row: 1 / sqrt(mean + epsilon), the mean from the exact sum of the
/// whole numbers' squares, rounded once.
template <class Threads>
TEMPERA_ON_DEVICE inline float whole_norm_factor(const Threads& threads, const float* x,
                                                 unsigned size, float epsilon) {
  const WholeRow row = whole_row_by(threads, x, size, input_squares);
  const float step = row.step();
  const float mean = static_cast<float>(row.squares) * (step * step) / static_cast<float>(size);
  return 1.0f / sqrtf(mean + epsilon);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
