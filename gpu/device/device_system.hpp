#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gpu/device/device.hpp"
#include "gpu/device/driver_answer.hpp"

namespace tempera::gpu {

/// The name of Thrust's device system that this program was built for: "CUDA" or "C++".
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

/// The device that a user asks for by its name (device_named); of an empty text this build's own.
/// No other is taken in its place.
/// @param option that the user gave, for messages
/// @throw BadInput if the text names none; MissingDevice (missing_device.hpp) if this build or this
/// machine cannot run kernels on it
Device require_device(const std::string& requested, const std::string& option = "--device");

/// The devices that a list names, with commas between them: "cuda:0,cuda:1". No GPU is named twice.
/// The host may be, for sessions that share its processors.
/// @throw BadInput and MissingDevice as require_device
std::vector<Device> require_devices(const std::string& list, const std::string& option);

}  // namespace tempera::gpu
