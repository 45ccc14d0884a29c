#include "gpu/transformer/default_kernels.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include "gpu/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/transformer/kernels/thrust/thrust_kernels.hpp"
#else
#include "gpu/transformer/kernels/host/host_kernels.hpp"
#endif

namespace tempera::gpu {

const Kernels& default_kernels(Arithmetic arithmetic) {
#if defined(TEMPERA_DEVICE_CUDA)
  if (arithmetic == Arithmetic::float32) return thrust_kernels();
  static const CudaKernels kernels;
  return kernels;
#else
  return host_kernels(chosen_instruction_set(), arithmetic);
#endif
}

}  // namespace tempera::gpu
