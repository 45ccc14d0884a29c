#pragma once

#include "gpu/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// The form of an arithmetic that is used on the current device (gpu/device/device.hpp) unless
/// another is asked for: on a GPU Thrust's for `float32` and CudaKernels for `tensor-core`; on the
/// host the form for the instruction set that chosen_instruction_set() gives.
/// @throw BadInput as chosen_instruction_set, and if there is no device
const Kernels& default_kernels(Arithmetic arithmetic = Arithmetic::float32);

}  // namespace tempera::gpu
