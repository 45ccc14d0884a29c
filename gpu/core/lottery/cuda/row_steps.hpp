#pragma once

#include <memory>

#include "gpu/core/lottery/cuda/draw_launch.hpp"
#include "gpu/core/lottery/row_steps.hpp"

namespace tempera::gpu {

/// The steps as CUDA kernels: on the device in a build for CUDA, and elsewhere the same text on
/// fibers, thread by thread, for tests. The batch's pointers are to memory of the device system.
std::unique_ptr<const RowSteps> make_cuda_row_steps(const DrawLaunch& launch = {});

}  // namespace tempera::gpu
