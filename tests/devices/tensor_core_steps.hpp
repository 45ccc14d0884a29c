#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gpu/llm/transformer/kernels/cuda/tensor_core_operands.hpp"
#include "tests/devices/device_clock.hpp"

namespace tempera::gpu {

/// One step of the tensor core for each tile, on the device: D = A B + C, [tiles, 16, 8], as bits.
/// A is [16, 16], B [8, 16] by its columns, both as operand_bits gives them.
void take_tensor_core_steps(std::uint32_t tiles, std::uint32_t* results);

/// Why no step can be taken by wgmma; empty if it can: on Hopper, in a build that has code for
/// sm_90a.
std::string why_no_wgmma();
/// Operations a second of wgmma m64n256k16 with the weights in registers, the best of five; nothing
/// if there is none.
std::optional<double> warpgroup_peak(const DeviceClock& clock);
/// Does what take_tensor_core_steps does, by wgmma with both operands in shared memory.
/// @throw std::runtime_error if the device refuses
void take_wgmma_steps(std::uint32_t tiles, std::uint32_t* results);

}  // namespace tempera::gpu
