#include "gpu/device/device.hpp"

#include <charconv>

namespace tempera::gpu {

std::string name_of(const Device& device) {
  return device.kind == Device::Kind::host ? "host" : "cuda:" + std::to_string(device.index);
}

std::optional<Device> device_named(std::string_view text) {
  constexpr std::string_view cuda = "cuda";
  if (text == "host") return Device{};
  if (text == cuda) return Device{Device::Kind::cuda, 0};
  if (!text.starts_with("cuda:")) return std::nullopt;
  text.remove_prefix(cuda.size() + 1);
  const bool has_leading_zero = text.size() > 1 && text.front() == '0';
  Device device{Device::Kind::cuda, 0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), device.index);
  if (error != std::errc() || end != text.data() + text.size() || has_leading_zero)
    return std::nullopt;
  return device;
}

}  // namespace tempera::gpu
