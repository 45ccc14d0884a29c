#pragma once

#include "gpu/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// The form of an arithmetic that this process uses where nobody asks for another: where the device
/// is not the host, Thrust's for `float32` and CudaKernels, of the thread's device, for
/// `tensor-core`; otherwise the host's for the instruction set that chosen_instruction_set() gives.
/// @throw BadInput as chosen_instruction_set, and where there is no device
const Kernels& default_kernels(Arithmetic arithmetic = Arithmetic::float32);

}  // namespace tempera::gpu
