#include "gpu/device/host_threads.hpp"
#include "gpu/device/thread_limit.hpp"

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_CUDA)
bool runs_on_host_threads() { return false; }
#else
bool runs_on_host_threads() { return true; }
#endif

ThreadLimit::ThreadLimit(std::size_t threads) : before_(limit_host_threads(threads)) {}

ThreadLimit::~ThreadLimit() { limit_host_threads(before_); }

}  // namespace tempera::gpu
