#pragma once

#include <cstddef>
#include <cstdint>

namespace tempera::gpu::simt {

constexpr unsigned warp_lanes = 32;

/// Blocks of a launch.
struct Extent {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

/// What a launch starts. Threads: a multiple of 32, at most 1024.
struct LaunchShape {
  Extent blocks;
  unsigned threads = 0;          ///< per block
  std::size_t shared_bytes = 0;  ///< per block, at most 227 KiB on Hopper, 99 KiB on Ada
  /// Whether all blocks run at the same time, so that they may wait for each other: a cooperative
  /// launch, which a device refuses if it has no room for them.
  bool together = false;
};

/// What a stream does with what is launched on it.
enum class Queueing {
  run,       ///< runs it, after what was launched before
  rehearse,  ///< nothing: the host code around the launches makes its room
  record,    ///< keeps it, with its arguments, for a StepGraph
};

/// What one lane moves at a time: 16 bytes, one register quadruple of an A fragment.
struct alignas(16) Vector16 {
  std::uint32_t x;
  std::uint32_t y;
  std::uint32_t z;
  std::uint32_t w;
};

}  // namespace tempera::gpu::simt
