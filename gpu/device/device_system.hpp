#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "gpu/device/driver_answer.hpp"

namespace tempera::gpu {

/// The name of Thrust's device system that this program was built for: "CUDA", "TBB", "OpenMP" or
/// "C++".
std::string device_system();

/// The device that kernels run on, for people: a GPU with its compute capability, driver and
/// runtime, or the host. Nothing where there is none, which only CUDA can say.
std::optional<std::string> device_description();

/// Bytes of the device's memory.
struct DeviceMemorySize {
  std::size_t free = 0;
  std::size_t total = 0;
};

/// The memory of the device, a GPU's or the host's. Nothing where it cannot be told.
std::optional<DeviceMemorySize> device_memory_size();

/// "3.2 GiB".
std::string in_gibibytes(std::size_t bytes);

/// A GPU's compute capability; nothing where the device is the host.
std::optional<ComputeCapability> compute_capability();

/// Why kernels cannot run on the device here, with the remedy, in one line: no GPU, no driver, or
/// one too old for this build's CUDA. Empty where they can; always where the device is the host.
std::string why_no_device();

/// What has stopped the GPU in the middle of a run, in words; empty where nothing has.
std::string device_failure();

/// Holds what a user asked for ("host", "cuda" or, with a number, "cuda:1", see device.hpp), or
/// nothing where it is empty, against this build and this machine, and enters it: for this thread,
/// and for those that enter none of their own. A device decides no bit, so no other is taken in its
/// place unasked.
/// @throw BadInput where kernels cannot run on it
void require_device(const std::string& requested);

}  // namespace tempera::gpu
