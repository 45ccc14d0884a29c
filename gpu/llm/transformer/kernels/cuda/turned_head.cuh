#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/kernels/cuda/phase_inputs.cuh"
#include "gpu/llm/transformer/kernels/cuda/tree.cuh"
#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// What rotates the heads of a layer. Norms may be null.
struct HeadRotation {
  const float* query_norm;  // [head_dim]
  const float* key_norm;    // [head_dim]
  float epsilon;
  RotaryTables tables;
};

/// Half of the elements of a head that rotate: element d of the first half turns with d + half.
TEMPERA_ON_DEVICE inline unsigned rotary_half(const AttentionShape& shape) {
  return static_cast<unsigned>(shape.rotary_dim == 0 ? shape.head_dim : shape.rotary_dim) / 2;
}

/// Normalises a head, unless its norm is null, rotates its first 2 · half elements by `position`,
/// and hands element d to store(d, value). By a whole warp; a lane stores what it alone has read,
/// so that `store` may write to `vector`. Its loops are short, and unrolled they would cost
/// attention registers.
template <class Inputs, class Store>
TEMPERA_ON_DEVICE inline void turn_head(const float* vector, const float* norm,
                                        const HeadRotation& rotation, unsigned position,
                                        unsigned size, unsigned half, const Store& store) {
  float sum = 0;
  TEMPERA_NO_UNROLL
  for (unsigned d = simt::lane(); d < size; d += 32) {
    const float x = Inputs::load(vector + d);
    sum = fused_multiply_add(x, x, sum);
  }
  const float mean = tree_of_warp(sum) / static_cast<float>(size);
  const float factor = 1.0f / sqrtf(mean + rotation.epsilon);
  TEMPERA_NO_UNROLL
  for (unsigned d = simt::lane(); d < half; d += 32) {
    float low = Inputs::load(vector + d);
    float high = Inputs::load(vector + d + half);
    if (norm != nullptr) {
      low = norm[d] * (low * factor);
      high = norm[d + half] * (high * factor);
    }
    const float cosine = rotation.tables.cosines[std::size_t{position} * half + d];
    const float sine = rotation.tables.sines[std::size_t{position} * half + d];
    store(d, fused_multiply_add(low, cosine, -(high * sine)));
    store(d + half, fused_multiply_add(high, cosine, low * sine));
  }
  TEMPERA_NO_UNROLL
  for (unsigned d = 2 * half + simt::lane(); d < size; d += 32) {
    const float x = Inputs::load(vector + d);
    store(d, norm == nullptr ? x : norm[d] * (x * factor));
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
