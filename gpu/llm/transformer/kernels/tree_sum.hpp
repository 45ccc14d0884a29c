#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Σ_i partial[i] as a fixed tree of pairs, halves first: for 16, ((p0 + p8) + (p4 + p12)) + ....
/// Size: a power of two.
template <std::size_t Size>
TEMPERA_HOST_DEVICE inline float tree_sum(const float (&partial)[Size]) {
  static_assert((Size & (Size - 1)) == 0);
  float sums[Size];
  for (std::size_t i = 0; i < Size; ++i) sums[i] = partial[i];
  for (std::size_t half = Size / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

/// Σ_i x_i^2 in `Sums` partial sums, element i in partial sum i % Sums, and their tree_sum.
template <std::size_t Sums>
TEMPERA_HOST_DEVICE inline float sum_of_squares(const float* x, std::size_t size) {
  float partial[Sums] = {};
  std::size_t begin = 0;
  for (; begin + Sums <= size; begin += Sums) {
    for (std::size_t i = 0; i < Sums; ++i) {
      partial[i] = fused_multiply_add(x[begin + i], x[begin + i], partial[i]);
    }
  }
  for (std::size_t i = 0; begin + i < size; ++i) {
    partial[i] = fused_multiply_add(x[begin + i], x[begin + i], partial[i]);
  }
  return tree_sum(partial);
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
