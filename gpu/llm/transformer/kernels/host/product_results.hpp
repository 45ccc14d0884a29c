#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// What becomes of the dot product of output o.
struct Store {
  void operator()(float& output, float product, std::size_t /*o*/) const { output = product; }
};
struct StoreWithBias {
  const float* bias;  // [out]
  void operator()(float& output, float product, std::size_t o) const { output = product + bias[o]; }
};
struct Add {
  void operator()(float& output, float product, std::size_t /*o*/) const { output += product; }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
