#pragma once

#include "gpu/device/instruction_set.hpp"
#include "gpu/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// The forms for the host's memory that are compiled for one instruction set: one source each
/// (float32_kernels.each_set.cpp, tensor_core_kernels.each_set.cpp), with vectors as wide as the
/// set's registers.
template <InstructionSet>
const Kernels& float32_kernels_for();
template <InstructionSet>
const Kernels& tensor_core_kernels_for();

/// As above, chosen at run time.
/// @throw std::invalid_argument where why_missing(set) is not empty
const Kernels& host_kernels(InstructionSet set, Arithmetic arithmetic = Arithmetic::float32);

}  // namespace tempera::gpu
