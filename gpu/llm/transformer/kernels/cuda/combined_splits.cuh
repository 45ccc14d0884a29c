#pragma once

#include <cfloat>
#include <cstdint>

#include "gpu/llm/transformer/kernels/cuda/attention_positions.cuh"
#include "gpu/llm/transformer/kernels/cuda/attention_work.cuh"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "gpu/llm/transformer/kernels/recurrent_kernels.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// attended[row, head] = bf16(O · (1 / L)) from the splits of the row in order, if there are
/// gates times sigmoid(gate) and rounded once more, for the query heads first_head … first_head +
/// heads − 1. By the whole block. gates: [heads, head_dim], or null.
template <class Inputs>
TEMPERA_ON_DEVICE inline void combine_splits(const AttentionShape& shape,
                                             const AttentionScratch& scratch, unsigned row,
                                             unsigned first_head, unsigned heads, unsigned splits,
                                             const float* gates, std::uint16_t* attended) {
  const auto size = static_cast<unsigned>(shape.head_dim);
  for (unsigned e = simt::thread(); e < heads * size; e += attention_threads) {
    const unsigned d = e % size;
    const std::size_t head = std::size_t{row} * shape.heads + first_head + e / size;
    const std::size_t begin = head * scratch.splits;
    float largest = -FLT_MAX;
    for (unsigned j = 0; j < splits; ++j) {
      const float m = simt::load_shared_by_blocks(scratch.maxima + begin + j);
      largest = m > largest ? m : largest;
    }
    float sum = 0;
    float output = 0;
    for (unsigned j = 0; j < splits; ++j) {
      const float weight =
          float32_exponential(simt::load_shared_by_blocks(scratch.maxima + begin + j) - largest);
      sum = fused_multiply_add(simt::load_shared_by_blocks(scratch.sums + begin + j), weight, sum);
      output = fused_multiply_add(
          simt::load_shared_by_blocks(scratch.outputs + (begin + j) * size + d), weight, output);
    }
    std::uint16_t result = to_bfloat16(output * (1.0f / sum));
    if (gates != nullptr)
      result = to_bfloat16(from_bfloat16(result) * sigmoid(Inputs::load(gates + e)));
    attended[head * size + d] = result;
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
