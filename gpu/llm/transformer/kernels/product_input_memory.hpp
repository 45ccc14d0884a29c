#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// Room for ProductInputs of one arithmetic.
class ProductInputMemory {
 public:
  explicit ProductInputMemory(Arithmetic arithmetic) : arithmetic_(arithmetic) {}

  /// Makes room for `size` elements if there is less.
  void ensure_size(std::size_t size) {
    if (rounds_to_bfloat16(arithmetic_)) {
      bfloat16_.ensure_size(size);
    } else {
      float32_.ensure_size(size);
    }
  }
  /// Valid until the next ensure_size.
  ProductInputs view() {
    if (rounds_to_bfloat16(arithmetic_)) return {nullptr, bfloat16_.data()};
    return {float32_.data(), nullptr};
  }

 private:
  Arithmetic arithmetic_;
  DeviceMemory<float> float32_;
  DeviceMemory<std::uint16_t> bfloat16_;
};

}  // namespace tempera::gpu
