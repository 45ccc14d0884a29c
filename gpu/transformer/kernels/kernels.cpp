#include "gpu/transformer/kernels/kernels.hpp"

#include "gpu/transformer/kernels/host/host_kernels.hpp"
#include "gpu/transformer/kernels/thrust/thrust_kernels.hpp"

namespace tempera::gpu {

Kernels::~Kernels() = default;

const Kernels& default_kernels() {
#if defined(TEMPERA_DEVICE_CUDA)
  return thrust_kernels();
#else
  return host_kernels(chosen_instruction_set());
#endif
}

}  // namespace tempera::gpu
