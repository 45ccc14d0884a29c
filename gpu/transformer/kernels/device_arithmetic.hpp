#pragma once

#include <optional>
#include <string>

#include "gpu/device/driver_answer.hpp"
#include "gpu/model/arithmetic.hpp"

namespace tempera::gpu {

/// The arithmetic of a device's own tensor cores: `tensor-core-ampere` for compute capability 8,
/// `tensor-core` from 9 on. Nothing for older ones, which know no bfloat16, and for the host.
std::optional<Arithmetic> fast_arithmetic(const std::optional<ComputeCapability>& device);

/// Why a device does not give the bits of an arithmetic, in one line; empty where it does.
/// `tensor-core` is Hopper's step (docs/arithmetic.md), which Blackwell takes too, and
/// `tensor-core-ampere` that of Ampere and Ada, which sums fewer products at a time.
/// `bfloat16-pairs` is the host's alone.
///
/// device: nothing where the device is the host, which computes every arithmetic.
std::string why_device_lacks(Arithmetic arithmetic, const std::optional<ComputeCapability>& device);

/// What somebody who computes by `arithmetic` on a device should know of a faster one, in one line;
/// empty where there is none. On a GPU float32 is computed in its readable form alone, and the
/// tensor cores are left idle.
///
/// device: nothing where the device is the host.
std::string faster_arithmetic(Arithmetic arithmetic,
                              const std::optional<ComputeCapability>& device);

}  // namespace tempera::gpu
