#include "gpu/transformer/kernels/device_arithmetic.hpp"

namespace tempera::gpu {

std::string why_device_lacks(Arithmetic arithmetic,
                             const std::optional<ComputeCapability>& device) {
  constexpr int ampere = 8;
  constexpr int hopper = 9;
  if (!device) return {};
  if (arithmetic == Arithmetic::bfloat16_pairs) {
    return "bfloat16-pairs is the order in which instructions of processors sum, and no form of it "
           "is "
           "for a GPU";
  }
  if (arithmetic != Arithmetic::tensor_core || device->major >= hopper) return {};
  const std::string capability =
      std::to_string(device->major) + "." + std::to_string(device->minor);
  return device->major < ampere
             ? "the tensor cores of compute capability " + capability + " know no bfloat16"
             : "the tensor cores of compute capability " + capability +
                   " take other steps than Hopper's, and would give other bits";
}

std::string faster_arithmetic(Arithmetic arithmetic,
                              const std::optional<ComputeCapability>& device) {
  if (arithmetic != Arithmetic::float32 || !device) return {};
  if (!why_device_lacks(Arithmetic::tensor_core, device).empty())
    return "float32 on this GPU is the readable form, far below what the GPU can do, and "
           "--arithmetic tensor-core needs compute capability 9.0 or newer";
  return "float32 on a GPU is the readable form: --arithmetic tensor-core is many times as fast "
         "here, and rounds to bfloat16";
}

}  // namespace tempera::gpu
