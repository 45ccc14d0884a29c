#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/device/arithmetic.hpp"
#include "gpu/llm/transformer/weights/matrix_view.hpp"
#include "gpu/llm/transformer/weights/quantised_block.hpp"
#include "gpu/llm/transformer/weights/weight_value.hpp"

// The weights of a matrix of `float32`, one by one, however they are stored.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// All in one dtype, as MatrixView packs them.
template <class Stored>
struct StoredWeights {
  const Stored* weights;
  std::size_t in;

  TEMPERA_HOST_DEVICE float operator()(std::size_t output, std::size_t input) const {
    return weight_value(weights[(output / lanes * in + input) * lanes + output % lanes]);
  }
  /// Those of the outputs from `output` on, which is a multiple of `lanes`.
  StoredWeights from(std::size_t output) const { return {weights + output * in, in}; }
};

/// Weights in blocks of 16 outputs, each of its own type.
struct QuantisedWeights {
  const std::byte* bytes;
  const std::uint64_t* blocks;  // [outputs / lanes]

  TEMPERA_HOST_DEVICE float operator()(std::size_t output, std::size_t input) const {
    const std::uint64_t block = blocks[output / lanes];
    return weight_of_block(packing_of(block), bytes + begin_of(block), output % lanes, input);
  }
  QuantisedWeights from(std::size_t output) const { return {bytes, blocks + output / lanes}; }
};

/// Calls run(weights) with those of the matrix.
template <class Run>
inline void with_weights(const MatrixView& matrix, const Run& run) {
  if (matrix.quantised != nullptr) {
    run(QuantisedWeights{matrix.quantised, matrix.blocks});
  } else if (matrix.bfloat16 != nullptr) {
    run(StoredWeights<std::uint16_t>{matrix.bfloat16, matrix.in});
  } else {
    run(StoredWeights<float>{matrix.float32, matrix.in});
  }
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
