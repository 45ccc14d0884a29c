#pragma once

#include "gpu/device/simt/simt.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// The sum of what the lanes of a warp hold, as docs/reference/arithmetic.md's tree: halves first.
/// Every lane gets it; which of a pair a lane adds to which changes no bit.
TEMPERA_ON_DEVICE inline float tree_of_warp(float sum) {
  TEMPERA_UNROLL
  for (unsigned half = simt::warp_lanes / 2; half > 0; half /= 2) {
    sum += simt::shuffle_xor(sum, half);
  }
  return sum;
}

/// The same of the 256 values p[i · stride] in shared memory; by a whole warp, and all lanes get
/// it.
TEMPERA_ON_DEVICE inline float tree_of_256(const float* p, unsigned stride = 1) {
  constexpr unsigned each = 256 / simt::warp_lanes;
  float sums[each];
  TEMPERA_UNROLL
  for (unsigned i = 0; i < each; ++i) {
    sums[i] = p[(simt::lane() + i * simt::warp_lanes) * stride];
  }
  TEMPERA_UNROLL
  for (unsigned half = each / 2; half > 0; half /= 2) {
    TEMPERA_UNROLL
    for (unsigned i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return tree_of_warp(sums[0]);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
