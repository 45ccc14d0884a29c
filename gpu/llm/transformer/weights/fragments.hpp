#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"
#include "gpu/device/tensor_core.hpp"

// Where a weight is in a matrix that is packed for the tensor core: a tile of 16 outputs is its
// steps of 16 inputs in order, and a step is what the 32 lanes of a warp give mma.m16n8k16 as its
// operand A, four registers each.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Outputs of a tile.
constexpr std::size_t fragment_outputs = 16;
/// Words of 32 bits in a step of a tile.
constexpr std::size_t fragment_words = std::size_t{32} * 4;

/// Steps of a row of `in` inputs; the last one is filled up with zeros.
TEMPERA_HOST_DEVICE constexpr std::size_t steps_of(std::size_t in) {
  return (in + step_products - 1) / step_products;
}

/// The word of a step that holds inputs 2 · (input / 2) and the next of an output, both below 16:
/// lane 4 (output % 8) + (input % 8) / 2, register output / 8 + 2 (input / 8).
TEMPERA_HOST_DEVICE constexpr std::size_t fragment_word(std::size_t output, std::size_t input) {
  return (4 * (output % 8) + input % 8 / 2) * 4 + output / 8 + 2 * (input / 8);
}

/// Where in a matrix of `in` inputs the weight of an output and an input is, in halves of words.
TEMPERA_HOST_DEVICE constexpr std::size_t fragment_offset(std::size_t in, std::size_t output,
                                                          std::size_t input) {
  const std::size_t step = output / fragment_outputs * steps_of(in) + input / step_products;
  return 2 * (step * fragment_words +
              fragment_word(output % fragment_outputs, input % step_products)) +
         input % 2;
}

/// The bits of the bfloat16 there.
TEMPERA_HOST_DEVICE inline std::uint16_t weight_at(const std::uint32_t* fragments,
                                                   std::size_t offset) {
  return static_cast<std::uint16_t>(fragments[offset / 2] >> (16 * (offset % 2)));
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
