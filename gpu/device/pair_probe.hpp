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

/// The blocks of the probe when a process begins: about 1 ms.
constexpr std::size_t blocks_at_start = 24;

}  // namespace tempera::gpu
