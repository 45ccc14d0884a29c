#pragma once

#include <optional>
#include <string>

#include "gpu/device/driver_answer.hpp"
#include "gpu/model/arithmetic.hpp"

namespace tempera::gpu {

/// Why a device does not give the bits of an arithmetic, in one line; empty if it does.
/// `tensor-core` is Hopper's step (docs/arithmetic.md), which Blackwell takes too: older tensor
/// cores sum fewer products at a time, and those before Ampere know no bfloat16. `bfloat16-pairs`
/// is the host's alone.
///
/// device: nothing if the device is the host, which computes every arithmetic.
std::string why_device_lacks(Arithmetic arithmetic, const std::optional<ComputeCapability>& device);

/// What somebody who computes by `arithmetic` on a device should know of a faster one, in one line;
/// empty if there is none. On a GPU float32 is computed in its readable form alone, and the
/// tensor cores are left idle.
///
/// device: nothing if the device is the host.
std::string faster_arithmetic(Arithmetic arithmetic,
                              const std::optional<ComputeCapability>& device);

}  // namespace tempera::gpu
