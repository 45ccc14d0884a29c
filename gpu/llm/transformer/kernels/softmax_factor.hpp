#pragma once

#include "gpu/llm/transformer/kernels/float32_exponential.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// The factor of the sums of an attention's values. mass: Σ exp(score - largest); sink: a logit
/// that weighs in the softmax and has no value, or null.
TEMPERA_HOST_DEVICE inline float softmax_factor(float mass, float largest, const float* sink) {
  if (sink == nullptr) return 1.0f / mass;
  const float most = *sink > largest ? *sink : largest;
  const float shrink = float32_exponential(largest - most);
  return shrink / fused_multiply_add(mass, shrink, float32_exponential(*sink - most));
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
