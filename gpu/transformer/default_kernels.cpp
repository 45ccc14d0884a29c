#include "gpu/transformer/default_kernels.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include <map>
#include <memory>
#include <mutex>

#include "gpu/device/device.hpp"
#include "gpu/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/transformer/kernels/thrust/thrust_kernels.hpp"
#else
#include "gpu/transformer/kernels/host/host_kernels.hpp"
#endif

namespace tempera::gpu {

const Kernels& default_kernels(Arithmetic arithmetic) {
#if defined(TEMPERA_DEVICE_CUDA)
  if (arithmetic == Arithmetic::float32) return thrust_kernels();
  // Kernels have a stream and memory of their device: one object for each device that is used.
  static std::mutex mutex;
  static std::map<std::size_t, std::unique_ptr<const CudaKernels>> kernels;
  const std::scoped_lock lock(mutex);
  std::unique_ptr<const CudaKernels>& here = kernels[current_device().index];
  if (!here) here = std::make_unique<const CudaKernels>();
  return *here;
#else
  return host_kernels(chosen_instruction_set(), arithmetic);
#endif
}

}  // namespace tempera::gpu
