#pragma once

#include "gpu/device/device_system.hpp"
#include "gpu/transformer/kernels/device_arithmetic.hpp"

namespace tempera::gpu {

/// The arithmetic of the device's own tensor cores, which alone they compute; in a build for the
/// host `tensor-core`.
inline Arithmetic own_arithmetic() {
  return fast_arithmetic(compute_capability()).value_or(Arithmetic::tensor_core);
}

/// What the host's form gives under each arithmetic of tensor cores, recorded.
struct RecordedBits {
  const char* tensor_core;
  const char* tensor_core_ampere;
  const char* under(Arithmetic arithmetic) const {
    return arithmetic == Arithmetic::tensor_core ? tensor_core : tensor_core_ampere;
  }
};

}  // namespace tempera::gpu
