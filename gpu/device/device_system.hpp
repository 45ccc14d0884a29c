#pragma once

#include <optional>
#include <string>

namespace tempera::gpu {

/// The name of Thrust's device system that this program was built for: "CUDA", "TBB", "OpenMP" or
/// "C++".
std::string device_system();

/// The device that kernels run on, for people: a GPU with its compute capability, driver and
/// runtime, or the host. Nothing where there is none, which only CUDA can say.
std::optional<std::string> device_description();

/// Why kernels cannot run on the device here, with the remedy, in one line: no GPU, no driver, or
/// one too old for this build's CUDA. Empty where they can; always where the device is the host.
std::string why_no_device();

/// What has stopped the GPU in the middle of a run, in words; empty where nothing has.
std::string device_failure();

/// Holds what a user asked for, "host" or "cuda", or nothing where it is empty, against this build
/// and this machine. A device decides no bit, so no other is taken in its place unasked.
/// @throw BadInput where kernels cannot run on it
void require_device(const std::string& requested);

}  // namespace tempera::gpu
