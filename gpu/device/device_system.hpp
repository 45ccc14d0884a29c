#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/device.hpp"
#include "gpu/device/driver_answer.hpp"

namespace tempera::gpu {

/// The name of Thrust's device system that this program was built for: "CUDA", "TBB", "OpenMP" or
/// "C++".
std::string device_system();

/// The device that kernels run on, for people: a GPU with its compute capability, driver and
/// runtime, or the host. Nothing if there is none, which only CUDA can say.
std::optional<std::string> device_description();

/// Bytes of the device's memory.
struct DeviceMemorySize {
  std::size_t free = 0;
  std::size_t total = 0;
};

/// The memory of the device, a GPU's or the host's. Nothing if it cannot be told.
std::optional<DeviceMemorySize> device_memory_size();

/// "3.2 GiB".
std::string in_gibibytes(std::size_t bytes);

/// The current GPU's compute capability; nothing if the device is the host.
std::optional<ComputeCapability> compute_capability();

/// Why kernels cannot run on the device here, with the remedy, in one line: no GPU, no driver, or
/// one too old for this build's CUDA. Empty if they can; always if the device is the host.
std::string why_no_device();

/// What has stopped the GPU in the middle of a run, in words; empty if nothing has.
std::string device_failure();

/// A device that is named well, and that this build or this machine cannot run kernels on.
class MissingDevice : public DeviceError {
 public:
  /// "where: what; remedy", as a BadInput says it.
  MissingDevice(const std::string& where, const std::string& what, const std::string& remedy)
      : DeviceError(OneLine(), one_line(where) + ": " + one_line(what) + "; " + one_line(remedy)) {}
};

/// The device that a user asks for by its name (device_named); of an empty text this build's own.
/// No other is taken in its place.
/// @param option that the user gave, for messages
/// @param otherwise what to do on a machine without a GPU
/// @throw BadInput if the text names none
/// @throw MissingDevice if this build or this machine cannot run kernels on it
Device require_device(const std::string& requested, const std::string& option = "--device",
                      const std::string& otherwise =
                          "use the build of cmake --preset release, which runs on the host");

/// The devices that a list names, with commas between them: "cuda:0,cuda:1". No GPU is named twice.
/// The host may be, for sessions that share its processors.
/// @throw BadInput and MissingDevice as require_device
std::vector<Device> require_devices(const std::string& list, const std::string& option);

}  // namespace tempera::gpu
