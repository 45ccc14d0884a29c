#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/device/instruction_set.hpp"

namespace tempera::gpu {

/// What the host's cores can do together, measured: what a speed is compared with.
struct HostLimits {
  double read_bytes_per_second = 0.0;     ///< of reading a block far larger than the caches, once
  double multiply_adds_per_second = 0.0;  ///< fused, of float32s in registers
};

/// The best of some repetitions with the widest instructions that the host has; a second in all.
/// @throw std::bad_alloc without room for a block of 512 MiB
HostLimits measure_host_limits();

/// The two loops that are measured, by all cores.
struct LimitLoops {
  /// Floats that one pass of `multiply_add` multiplies and adds.
  std::size_t floats;
  /// Does `passes` passes for every item; sums: [items], so that the loop is not optimised away.
  void (*multiply_add)(std::size_t items, std::size_t passes, float* sums);
  /// Reads every word of `pieces` pieces; sums: [pieces], of the words of each modulo 2^32.
  void (*read)(const std::uint32_t* words, std::size_t pieces, std::uint32_t* sums);
};

/// Words of a piece.
inline constexpr std::size_t piece_words = std::size_t{1} << 18;

/// The same work, compiled for one instruction set (host_limits.isa.cpp).
template <InstructionSet>
LimitLoops limit_loops_for();

}  // namespace tempera::gpu
