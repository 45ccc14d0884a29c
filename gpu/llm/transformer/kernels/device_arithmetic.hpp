#pragma once

#include <optional>
#include <string>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/device/driver_answer.hpp"

namespace tempera::gpu {

/// The arithmetic of a device's own tensor cores: `tensor-core-ampere` for compute capability 8,
/// `tensor-core` from 9 on, or the one with pages of 8 bits if `pages` are these. Nothing for older
/// devices, which know no bfloat16, and for the host.
std::optional<Arithmetic> fast_arithmetic(const std::optional<ComputeCapability>& device,
                                          PageElements pages = PageElements::bfloat16);

/// Why a device does not give the bits of an arithmetic, in one line; empty if it does.
/// `tensor-core` is Hopper's step (docs/reference/arithmetic.md). A newer chip is taken to have it
/// until its tensor cores are asked, which CudaKernels does before it uses them. And
/// `tensor-core-ampere` that of Ampere and Ada, which sums fewer products at a time.
/// `bfloat16-pairs` is the host's alone. `float32` and `integer` are everywhere.
///
/// device: nothing if the device is the host, which computes every arithmetic.
std::string why_device_lacks(Arithmetic arithmetic, const std::optional<ComputeCapability>& device);

/// What to take instead of an arithmetic that the device does not give, as the remedy of an error:
/// "use --arithmetic tensor-core-ampere, which is this GPU's own, or --arithmetic float32". Who
/// asks for pages of 8 bits is told of the one with such pages.
std::string arithmetics_instead(Arithmetic arithmetic,
                                const std::optional<ComputeCapability>& device);

/// What somebody who computes by `arithmetic` on a device should know of a faster one, in one line;
/// empty if there is none. On a GPU float32 is computed in its readable form alone, and the
/// tensor cores are left idle.
///
/// device: nothing if the device is the host.
std::string faster_arithmetic(Arithmetic arithmetic,
                              const std::optional<ComputeCapability>& device);

}  // namespace tempera::gpu
