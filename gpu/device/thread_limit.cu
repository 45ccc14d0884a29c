#include "gpu/device/host_threads.hpp"
#include "gpu/device/thread_limit.hpp"

#if defined(TEMPERA_DEVICE_TBB)
#include <tbb/global_control.h>
#elif defined(TEMPERA_DEVICE_OMP)
#include <omp.h>
#endif

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_CUDA)
bool runs_on_host_threads() { return false; }
#else
bool runs_on_host_threads() { return true; }
#endif

ThreadLimit::ThreadLimit(std::size_t threads) : before_(limit_host_threads(threads)) {
#if defined(TEMPERA_DEVICE_TBB)
  of_thrust_ =
      std::make_shared<tbb::global_control>(tbb::global_control::max_allowed_parallelism, threads);
#elif defined(TEMPERA_DEVICE_OMP)
  of_thrust_ = std::shared_ptr<void>(
      nullptr, [before = omp_get_max_threads()](void*) { omp_set_num_threads(before); });
  omp_set_num_threads(static_cast<int>(threads));
#endif
}

ThreadLimit::~ThreadLimit() { limit_host_threads(before_); }

}  // namespace tempera::gpu
