#pragma once

#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// The readable form of `float32`: every kernel as loops over single floats, on Thrust's device
/// system. It is the device's form, and on the host what the others are compared with.
const Kernels& thrust_kernels();

}  // namespace tempera::gpu
