#include "gpu/llm/transformer/kernels/device_arithmetic.hpp"

namespace tempera::gpu {

namespace {

constexpr int ampere = 8;
constexpr int hopper = 9;

}  // namespace

std::optional<Arithmetic> fast_arithmetic(const std::optional<ComputeCapability>& device,
                                          PageElements pages) {
  if (!device || device->major < ampere) return std::nullopt;
  const bool eight_bits = pages == PageElements::eight_bits;
  if (device->major < hopper) {
    return eight_bits ? Arithmetic::tensor_core_ampere_8_bit_pages : Arithmetic::tensor_core_ampere;
  }
  return eight_bits ? Arithmetic::tensor_core_8_bit_pages : Arithmetic::tensor_core;
}

std::string why_device_lacks(Arithmetic arithmetic,
                             const std::optional<ComputeCapability>& device) {
  if (!device) return {};
  if (arithmetic == Arithmetic::bfloat16_pairs) {
    return "bfloat16-pairs is the order in which instructions of processors sum, and no form of it "
           "is for a GPU";
  }
  if (!takes_tensor_core_steps(arithmetic)) return {};
  const auto fast = fast_arithmetic(device);
  if (fast && takes_hopper_steps(arithmetic) == takes_hopper_steps(*fast)) return {};
  const std::string cores = "the tensor cores of compute capability " +
                            std::to_string(device->major) + "." + std::to_string(device->minor);
  if (device->major < ampere) return cores + " know no bfloat16";
  return cores + " take other steps than " +
         (takes_hopper_steps(arithmetic) ? "Hopper's" : "Ampere's and Ada's") +
         ", and would give other bits";
}

std::string arithmetics_instead(Arithmetic arithmetic,
                                const std::optional<ComputeCapability>& device) {
  const auto fast = fast_arithmetic(device, page_elements(arithmetic));
  return "use " +
         (fast ? "--arithmetic " + std::string(name_of(*fast)) + ", which is this GPU's own, or "
               : std::string()) +
         "--arithmetic float32";
}

std::string faster_arithmetic(Arithmetic arithmetic,
                              const std::optional<ComputeCapability>& device) {
  if (arithmetic != Arithmetic::float32 || !device) return {};
  const auto fast = fast_arithmetic(device);
  if (!fast)
    return "float32 on this GPU is the readable form, far below what the GPU can do, and "
           "--arithmetic tensor-core-ampere needs compute capability 8.0 or newer";
  return "float32 on a GPU is the readable form: --arithmetic " + std::string(name_of(*fast)) +
         " is many times as fast here, and rounds to bfloat16";
}

}  // namespace tempera::gpu
