#include "gpu/device/device.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::gpu {

std::string name_of(const Device& device) {
  return (device.kind == Device::Kind::cuda ? "cuda:" : "host:") + std::to_string(device.index);
}

Device device_named(std::string_view text, const std::string& option) {
  const std::string_view kind = text.substr(0, text.find(':'));
  Device device;
  device.kind = kind == "cuda" ? Device::Kind::cuda : Device::Kind::host;
  bool is_known = kind == "cuda" || kind == "host";
  if (is_known && kind.size() < text.size()) {
    const std::string_view number = text.substr(kind.size() + 1);
    constexpr unsigned most = 1023;
    const char* const end = number.data() + number.size();
    const auto [last, error] = std::from_chars(number.data(), end, device.index);
    is_known = error == std::errc() && last == end && device.index <= most;
  }
  if (!is_known)
    throw BadInput(option, in_quotes(std::string(text)) + " names no device",
                   "give host, cuda, or cuda with a number, such as cuda:1");
  return device;
}

std::vector<Device> devices_named(std::string_view text, const std::string& option) {
  std::vector<Device> devices;
  for (;;) {
    const std::size_t comma = text.find(',');
    devices.push_back(device_named(text.substr(0, comma), option));
    if (std::count(devices.begin(), devices.end(), devices.back()) > 1)
      throw BadInput(option, "names " + name_of(devices.back()) + " twice", "name it once");
    if (comma == std::string_view::npos) return devices;
    text.remove_prefix(comma + 1);
  }
}

std::string why_no_such_device(unsigned index, unsigned devices) {
  if (index < devices) return {};
  if (devices == 1) return "this machine has one NVIDIA GPU; give cuda:0";
  return "this machine has " + std::to_string(devices) +
         " NVIDIA GPUs; give cuda:0 to cuda:" + std::to_string(devices - 1);
}

}  // namespace tempera::gpu
