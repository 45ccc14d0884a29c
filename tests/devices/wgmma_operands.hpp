#pragma once

#include <cstdint>

#include "gpu/device/arithmetic.hpp"

// How wgmma.m64n8k16 wants bfloat16 operands in shared memory, by the PTX ISA: not swizzled, K
// innermost. A core matrix is 8 rows of 8 elements, 128 bytes in a row.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

inline constexpr std::uint32_t core_matrix_bytes = 128;
/// From a core matrix to the next 8 elements of the same rows, and to the next 8 rows.
inline constexpr std::uint32_t core_matrix_along_k = core_matrix_bytes;
inline constexpr std::uint32_t core_matrix_along_rows = 2 * core_matrix_bytes;

/// The byte where element k < 16 of a row is, from the beginning of its operand.
TEMPERA_HOST_DEVICE inline std::uint32_t wgmma_operand_offset(std::uint32_t row, std::uint32_t k) {
  return row / 8 * core_matrix_along_rows + k / 8 * core_matrix_along_k + row % 8 * 16 + k % 8 * 2;
}

/// The descriptor of an operand at this address of the shared memory, a multiple of 16: in units of
/// 16 bytes the address from bit 0 on, the step along K from bit 16, that along rows from bit 32.
TEMPERA_HOST_DEVICE inline std::uint64_t wgmma_descriptor(std::uint32_t shared_address) {
  const auto field = [](std::uint32_t bytes) {
    return static_cast<std::uint64_t>(bytes >> 4) & 0x3FFFU;
  };
  return field(shared_address) | field(core_matrix_along_k) << 16 |
         field(core_matrix_along_rows) << 32;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
