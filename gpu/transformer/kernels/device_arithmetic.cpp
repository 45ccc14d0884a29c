#include "gpu/transformer/kernels/device_arithmetic.hpp"

namespace tempera::gpu {

std::string why_device_lacks(Arithmetic arithmetic,
                             const std::optional<ComputeCapability>& device) {
  constexpr int ampere = 8;
  constexpr int hopper = 9;
  if (arithmetic != Arithmetic::tensor_core || !device || device->major >= hopper) return {};
  const std::string capability =
      std::to_string(device->major) + "." + std::to_string(device->minor);
  return device->major < ampere
             ? "the tensor cores of compute capability " + capability + " know no bfloat16"
             : "the tensor cores of compute capability " + capability +
                   " take other steps than Hopper's, and would give other bits";
}

}  // namespace tempera::gpu
