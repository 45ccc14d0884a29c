#pragma once

#include <memory>

#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// The form of an arithmetic that is used on the current device (gpu/device/device.hpp) unless
/// another is asked for: on a GPU Thrust's for `float32`, CudaIntegerKernels for `integer` and
/// CudaKernels for those of tensor cores; on the host the form for the instruction set that
/// chosen_instruction_set() gives.
///
/// CUDA kernels have a stream and memory of their own, on the device that is current when they are
/// made. Each call makes others, so models share none of it, on one device or on several.
/// @throw BadInput as chosen_instruction_set, and if there is no device
std::shared_ptr<const Kernels> make_default_kernels(Arithmetic arithmetic = Arithmetic::float32);

}  // namespace tempera::gpu
