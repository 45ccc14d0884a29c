#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"
#include "gpu/transformer/weights/packed_matrix.hpp"

namespace tempera::gpu {

/// Σ_l partial[l] as a fixed tree of pairs, halves first: ((p0 + p8) + (p4 + p12)) + ....
TEMPERA_HOST_DEVICE inline float lane_sum(const float (&partial)[lanes]) {
  float sums[lanes];
  for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = partial[lane];
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

/// Σ_i x_i^2, element i in partial sum i % lanes.
TEMPERA_HOST_DEVICE inline float sum_of_squares(const float* x, std::size_t size) {
  float partial[lanes] = {};
  std::size_t begin = 0;
  for (; begin + lanes <= size; begin += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      partial[lane] = fused_multiply_add(x[begin + lane], x[begin + lane], partial[lane]);
    }
  }
  for (std::size_t lane = 0; begin + lane < size; ++lane) {
    partial[lane] = fused_multiply_add(x[begin + lane], x[begin + lane], partial[lane]);
  }
  return lane_sum(partial);
}

}  // namespace tempera::gpu
