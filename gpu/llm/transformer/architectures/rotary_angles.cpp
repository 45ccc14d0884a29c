#include "gpu/llm/transformer/architectures/rotary_angles.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tempera::gpu {

RotaryTables RotaryAngles::up_to(std::size_t context) {
  if (context > positions_) {
    constexpr std::size_t fewest = 256;
    positions_ = std::min(std::max({context, 2 * positions_, fewest}), max_position_);
    std::vector<float> cosines(positions_ * half_);
    std::vector<float> sines(positions_ * half_);
    for (std::size_t d = 0; d < half_; ++d) {
      const double frequency =
          std::pow(theta_, -static_cast<double>(d) / static_cast<double>(half_)) /
          (factors_.empty() ? 1.0 : factors_[d]);
      for (std::size_t position = 0; position < positions_; ++position) {
        const double angle = static_cast<double>(position) * frequency;
        cosines[position * half_ + d] = static_cast<float>(magnitude_ * std::cos(angle));
        sines[position * half_ + d] = static_cast<float>(magnitude_ * std::sin(angle));
      }
    }
    cosines_ = DeviceMemory<float>(std::span<const float>(cosines));
    sines_ = DeviceMemory<float>(std::span<const float>(sines));
  }
  return {cosines_.data(), sines_.data()};
}

}  // namespace tempera::gpu
