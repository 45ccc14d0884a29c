#pragma once

#include <cstdint>
#include <memory>

#include "gpu/lottery/row_steps.hpp"

namespace tempera::gpu {

/// How the draw's CUDA kernels are run. None of it changes a bit.
struct DrawLaunch {
  std::uint64_t blocks = 0;        ///< that sums are spread over; 0: four for each multiprocessor
  std::uint64_t thread_order = 1;  ///< on fibers: the seed of the order of threads and blocks
};

/// The steps as CUDA kernels: on the device in a build for CUDA, and elsewhere the same text on
/// fibers, thread by thread, for tests. The batch's pointers are to memory of the device system.
std::unique_ptr<const RowSteps> make_cuda_row_steps(const DrawLaunch& launch = {});

}  // namespace tempera::gpu
