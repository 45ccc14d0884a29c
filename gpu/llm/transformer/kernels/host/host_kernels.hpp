#pragma once

#include "gpu/device/instruction_set.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// The forms for the host's memory that are compiled for one instruction set: one source each
/// for each arithmetic, with vectors as wide as the set's registers. Only those of `bfloat16-pairs`
/// have one for avx512_bf16 and amx_bf16, and those of `integer` one for neon, avx_vnni and
/// avx512_vnni.
template <InstructionSet>
const Kernels& float32_kernels_for();
/// @pre takes_tensor_core_steps(arithmetic)
template <InstructionSet>
const Kernels& tensor_core_kernels_for(Arithmetic arithmetic);
template <InstructionSet>
const Kernels& bfloat16_pairs_kernels_for();

template <InstructionSet>
const Kernels& integer_kernels_for();

/// The same kernels, chosen at run time.
/// @throw Bug if why_missing(set) is not empty
const Kernels& host_kernels(InstructionSet set, Arithmetic arithmetic = Arithmetic::float32);

}  // namespace tempera::gpu
