#pragma once

#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/device_arithmetic.hpp"

namespace tempera::gpu {

/// The arithmetic of the device's own tensor cores, which alone they compute; in a build for the
/// host `tensor-core`.
inline Arithmetic own_arithmetic() {
  return fast_arithmetic(compute_capability()).value_or(Arithmetic::tensor_core);
}

/// The same with pages of 8 bits.
inline Arithmetic own_arithmetic_of_8_bit_pages() {
  return takes_hopper_steps(own_arithmetic()) ? Arithmetic::tensor_core_8_bit_pages
                                              : Arithmetic::tensor_core_ampere_8_bit_pages;
}

/// What the host's form gives in the steps of each chip's tensor cores, recorded.
struct RecordedBits {
  const char* of_hopper;
  const char* of_ampere;
  const char* under(Arithmetic arithmetic) const {
    return takes_hopper_steps(arithmetic) ? of_hopper : of_ampere;
  }
};

}  // namespace tempera::gpu
