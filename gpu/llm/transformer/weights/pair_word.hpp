#pragma once

#include <cstddef>

#include "gpu/device/bfloat16_pairs.hpp"
#include "gpu/llm/transformer/weights/matrix_view.hpp"

// Where a weight is in a matrix that is packed for sums of pairs: a block of 16 outputs is its
// pairs of inputs in order, each the words of its outputs side by side.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Pairs of a row of `in` inputs; the last segment is filled up with zeros.
TEMPERA_HOST_DEVICE constexpr std::size_t pairs_of(std::size_t in) {
  return (in + pair_segment_inputs - 1) / pair_segment_inputs * segment_pairs;
}

/// The word that holds inputs 2 · (input / 2) and the next of an output, the earlier in its lower
/// half.
constexpr std::size_t pair_word(std::size_t in, std::size_t output, std::size_t input) {
  return (output / lanes * pairs_of(in) + input / pair_inputs) * lanes + output % lanes;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
