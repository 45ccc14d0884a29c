#pragma once

#include "gpu/device/instruction_set.hpp"
#include "gpu/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// The form for the host's memory that is compiled for one instruction set: one source
/// (host_kernels.each_set.cpp), with vectors as wide as the set's registers.
template <InstructionSet>
const Kernels& host_kernels_for();

/// As above, chosen at run time.
/// @throw std::invalid_argument where why_missing(set) is not empty
const Kernels& host_kernels(InstructionSet set);

}  // namespace tempera::gpu
