#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// magnitude · cos and magnitude · sin of position · theta^(-2d / head_dim) / factors[d], computed
/// once in double by the C library and rounded to float32, in tables that grow with the longest
/// text so far.
class RotaryAngles {
 public:
  /// factors: [head_dim / 2], or none, which are all 1.
  RotaryAngles(double theta, std::size_t head_dim, std::size_t max_position,
               std::vector<double> factors = {}, double magnitude = 1.0)
      : theta_(theta),
        half_(head_dim / 2),
        max_position_(max_position),
        factors_(std::move(factors)),
        magnitude_(magnitude) {}

  /// Tables of at least the positions 0 .. context - 1; valid until the next call.
  /// Range: context <= max_position.
  RotaryTables up_to(std::size_t context);

 private:
  double theta_;
  std::size_t half_;
  std::size_t max_position_;
  std::vector<double> factors_;
  double magnitude_;
  std::size_t positions_ = 0;
  DeviceMemory<float> cosines_;  // [positions_, half_]
  DeviceMemory<float> sines_;    // [positions_, half_]
};

}  // namespace tempera::gpu
