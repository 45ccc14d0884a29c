#pragma once

#include <cstddef>

#include "gpu/device/simt/fiber_threads.hpp"

namespace tempera::gpu::simt::inline on_fibers {

/// The most blocks of a launch that run at the same time: each launch draws between two and so many
/// from its seed. Tests set more than two.
inline constinit std::size_t most_resident_blocks = resident_blocks;

}  // namespace tempera::gpu::simt::inline on_fibers
