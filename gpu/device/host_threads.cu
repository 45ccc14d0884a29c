#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include "gpu/device/host_threads.hpp"

namespace tempera::gpu {

namespace {

struct Call {
  void (*work)(const void*, std::size_t);
  const void* context;
  void operator()(std::size_t item) const { work(context, item); }
};

}  // namespace

void on_host_threads(std::size_t items, void (*work)(const void* context, std::size_t item),
                     const void* context) {
  // One record's norms are one item, several times a layer: no thread has to hear of them.
  if (items == 1) return work(context, 0);
#if defined(TEMPERA_DEVICE_CUDA)
  const auto& threads = thrust::host;
#else
  const auto& threads = thrust::device;
#endif
  thrust::for_each_n(threads, thrust::counting_iterator<std::size_t>(0), items,
                     Call{work, context});
}

}  // namespace tempera::gpu
