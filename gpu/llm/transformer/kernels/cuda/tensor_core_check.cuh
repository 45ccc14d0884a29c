#pragma once

#include <cstring>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/kernels/cuda/tensor_core_operands.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

TEMPERA_ON_DEVICE inline std::uint32_t operand_pair(std::uint32_t tile, std::uint32_t matrix,
                                                    std::uint32_t row, std::uint32_t k) {
  return operand_bits(tile, matrix, row, k) |
         static_cast<std::uint32_t>(operand_bits(tile, matrix, row, k + 1)) << 16;
}

/// Launch: {tiles} blocks of one warp. results: [tiles, 16, 8], bits of float32.
TEMPERA_KERNEL(32) take_mma_steps(std::uint32_t* results) {
  const std::uint32_t tile = simt::block().x;
  const unsigned g = simt::lane() / 4;
  const unsigned t = simt::lane() % 4;
  const simt::Vector16 a{operand_pair(tile, 0, g, 2 * t), operand_pair(tile, 0, g + 8, 2 * t),
                         operand_pair(tile, 0, g, 2 * t + 8),
                         operand_pair(tile, 0, g + 8, 2 * t + 8)};
  float d[4];
  TEMPERA_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t bits = accumulator_bits(tile, g + i / 2 * 8, 2 * t + i % 2);
    memcpy(&d[i], &bits, sizeof bits);
  }
  simt::tensor_core_step(d, a, operand_pair(tile, 1, g, 2 * t),
                         operand_pair(tile, 1, g, 2 * t + 8));
  TEMPERA_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    std::uint32_t bits = 0;
    memcpy(&bits, &d[i], sizeof bits);
    results[(std::size_t{tile} * 16 + g + i / 2 * 8) * 8 + 2 * t + i % 2] = bits;
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
