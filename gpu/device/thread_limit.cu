#include "gpu/device/thread_limit.hpp"

#if defined(TEMPERA_DEVICE_TBB)
#include <tbb/global_control.h>
#elif defined(TEMPERA_DEVICE_OMP)
#include <omp.h>
#endif

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_TBB)

bool runs_on_host_threads() { return true; }

ThreadLimit::ThreadLimit(std::size_t threads)
    : limit_(std::make_shared<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                   threads)) {}

#elif defined(TEMPERA_DEVICE_OMP)

bool runs_on_host_threads() { return true; }

ThreadLimit::ThreadLimit(std::size_t threads)
    : limit_(nullptr, [before = omp_get_max_threads()](void*) { omp_set_num_threads(before); }) {
  omp_set_num_threads(static_cast<int>(threads));
}

#else

bool runs_on_host_threads() { return false; }

ThreadLimit::ThreadLimit(std::size_t) {}

#endif

}  // namespace tempera::gpu
