#include "gpu/transformer/default_kernels.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include <map>
#include <memory>
#include <mutex>
#include <utility>

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
  // A form owns memory and a stream of its device.
  static std::mutex making;
  static std::map<std::pair<unsigned, Arithmetic>, std::unique_ptr<const CudaKernels>> all;
  const std::scoped_lock lock(making);
  auto& kernels = all[{entered_device(), arithmetic}];
  if (!kernels)
    kernels = std::make_unique<CudaKernels>(1, std::nullopt, StepForm::graph, arithmetic);
  return *kernels;
#else
  return host_kernels(chosen_instruction_set(), arithmetic);
#endif
}

}  // namespace tempera::gpu
