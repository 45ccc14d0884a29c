#pragma once

#include "gpu/llm/transformer/weights/pair_word.hpp"

// Where a matrix of the arithmetic `integer` has its weights: a block of 16 outputs is first the
// steps of their segments, floats [segments, 16], and then their whole numbers as pair_word has
// pairs, [pairs, 16].

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Inputs of a product, and weights, that share an exponent.
constexpr std::size_t whole_segment = 512;
TEMPERA_HOST_DEVICE constexpr std::size_t whole_segments(std::size_t in) {
  return (in + whole_segment - 1) / whole_segment;
}
/// Pairs of a segment.
constexpr std::size_t whole_segment_pairs = whole_segment / pair_inputs;
static_assert(whole_segment_pairs % segment_pairs == 0);

/// Words of a block.
TEMPERA_HOST_DEVICE constexpr std::size_t whole_block_words(std::size_t in) {
  return (whole_segments(in) + pairs_of(in)) * lanes;
}

/// A matrix of whole numbers.
struct WholeWeights {
  const std::uint32_t* words;
  std::size_t in;

  TEMPERA_HOST_DEVICE WholeWeights from(std::size_t output) const {
    return {words + output / lanes * whole_block_words(in), in};
  }
  /// 2^-e of 16 outputs in a segment.
  TEMPERA_HOST_DEVICE const float* steps(std::size_t output, std::size_t segment) const {
    return reinterpret_cast<const float*>(from(output).words) + segment * lanes;
  }
  /// The pairs of 16 outputs from one on.
  TEMPERA_HOST_DEVICE const std::uint32_t* pairs(std::size_t output, std::size_t pair) const {
    return from(output).words + (whole_segments(in) + pair) * lanes;
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
