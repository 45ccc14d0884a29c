#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tempera::gpu {

/// A device that kernels run on. It decides no bit of any answer.
struct Device {
  enum class Kind : std::uint8_t { host, cuda };
  Kind kind = Kind::host;
  /// Among the GPUs of the machine. The host computes alike under any index: as several devices in
  /// one process, of which 0 is what users have.
  std::size_t index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

/// "host", "cuda:1".
std::string name_of(const Device& device);

/// The device that a text names: "host", "cuda" (which is "cuda:0") or "cuda:N"; nothing for any
/// other text. Whether the device is there is for require_device to say.
std::optional<Device> device_named(std::string_view text);

/// The device that the calling thread works on. On one that has not chosen, it is the host in a
/// build for the host, and else the first GPU.
Device current_device();

/// Makes a device the one that the calling thread works on, until the object's end.
/// @pre the device is one of this build's and is there (require_device)
class CurrentDevice {
 public:
  explicit CurrentDevice(Device device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  Device before_;
};

}  // namespace tempera::gpu
