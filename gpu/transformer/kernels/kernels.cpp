#include "gpu/transformer/kernels/kernels.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include "gpu/input/bad_input.hpp"
#include "gpu/transformer/kernels/thrust/thrust_kernels.hpp"
#else
#include "gpu/transformer/kernels/host/host_kernels.hpp"
#endif

namespace tempera::gpu {

Kernels::~Kernels() = default;

const Kernels& default_kernels(Arithmetic arithmetic) {
#if defined(TEMPERA_DEVICE_CUDA)
  if (arithmetic != Arithmetic::float32) {
    throw BadInput("arithmetic", "tensor-core has no form in this build, whose device is CUDA",
                   "take float32, or a build for the host");
  }
  return thrust_kernels();
#else
  return host_kernels(chosen_instruction_set(), arithmetic);
#endif
}

}  // namespace tempera::gpu
