#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/device/simt/simt.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Tiles whose steps a device is asked for before its tensor cores are used: each kind of operands
/// four times.
constexpr std::uint32_t checked_tiles = 32;

/// Takes one step of the tensor core for each tile: D = A B + C, [tiles, 16, 8], as bits. A is [16,
/// 16], B [8, 16] by its columns, both as operand_bits gives them.
/// @throw DeviceError if the device refuses
std::vector<std::uint32_t> take_tensor_core_steps(simt::Stream& stream, std::uint32_t tiles);

/// Counts the steps, as take_tensor_core_steps gives them, that are not those of the model of the
/// chip whose arithmetic it is (gpu/device/tensor_core.hpp).
std::size_t count_other_steps(std::span<const std::uint32_t> results, Arithmetic arithmetic);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
