#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gpu/device/instruction_set.hpp"

namespace tempera::gpu {

/// A sum of pairs that an instruction and the definition compute differently.
struct PairDifference {
  std::uint32_t a;
  std::uint32_t b;
  float sum;
  float given;
  float defined;
};

/// What a probe has found: how many sums it looked at, and the first difference.
struct PairProbe {
  std::size_t sums = 0;
  std::optional<PairDifference> first;
};

/// results[i] = add_pair(a[i], b[i], sums[i]) for i < count, a multiple of 16.
using AddPairs = void (*)(const std::uint32_t* a, const std::uint32_t* b, const float* sums,
                          std::size_t count, float* results);

/// The instructions of a set, in the function that takes them.
template <InstructionSet>
AddPairs add_pairs_for();

/// The same, chosen at run time. @pre why_missing(set) is empty
AddPairs add_pairs_of(InstructionSet set);

/// Holds instructions against add_pair of gpu/device/bfloat16_pairs.hpp: any bits at all; sums near
/// both ends of float32's range; sums that nearly vanish; sums that round to the least normal
/// number or past it. `blocks` of 1024 sums, the same ones in every call. Two NaN are the same.
PairProbe probe_pairs(AddPairs instructions, std::size_t blocks);

/// sums[r, c] += the segment of the words a[r] and b[·, c], as TDPBF16PS adds it: + (A + B), where
/// A is a chain over the words' lower halves from +0 and B one over their upper halves. All [16,
/// 16].
using AddSegments = void (*)(const std::uint32_t* a, const std::uint32_t* b, float* sums);

/// By the instruction of the one set that has it, amx_bf16.
template <InstructionSet>
AddSegments add_segments_for();

/// The same. @pre why_missing(InstructionSet::amx_bf16) is empty
AddSegments add_segments_by_tiles();

/// What a probe of segments has found.
struct SegmentProbe {
  std::size_t sums = 0;
  std::size_t different = 0;
};

/// Holds an instruction against this, step by step by gpu/device/bfloat16_pairs.hpp: the kinds of
/// sums of probe_pairs, in so many tiles, the same ones in every call. Two NaN are the same.
SegmentProbe probe_segments(AddSegments instruction, std::size_t tiles);

/// The tiles of the probe when a process begins: about 1 ms.
constexpr std::size_t tiles_at_start = 12;

/// The blocks of the probe when a process begins: about 1 ms.
constexpr std::size_t blocks_at_start = 24;

}  // namespace tempera::gpu
