#pragma once

#include <cstdint>

namespace tempera::gpu {

/// How the draw's CUDA kernels are run. None of it changes a bit.
struct DrawLaunch {
  std::uint64_t blocks = 0;        ///< that sums are spread over; 0: four for each multiprocessor
  std::uint64_t thread_order = 1;  ///< on fibers: the seed of the order of threads and blocks
};

}  // namespace tempera::gpu
