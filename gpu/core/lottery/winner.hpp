#pragma once

#include <cstdint>

#include "gpu/core/lottery/philox.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// The upper 64 bits of the 128-bit product a·b.
TEMPERA_HOST_DEVICE inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#endif
}

/// floor(word · total / 2^128): the threshold that a word sets in a lottery of `total` tickets.
///
/// Over the 2^128 words each of the `total` thresholds comes up floor or ceil(2^128 / total) times,
/// so a winner's probability differs from tickets / total by less than 2^-128 · (tickets + 1): the
/// word's grain, the one thing that enumeration leaves out.
TEMPERA_HOST_DEVICE inline std::uint64_t threshold_of(const Word& word, std::uint64_t total) {
  const std::uint64_t low =
      (static_cast<std::uint64_t>(word.limb[1]) << 32) | static_cast<std::uint64_t>(word.limb[0]);
  const std::uint64_t high =
      (static_cast<std::uint64_t>(word.limb[3]) << 32) | static_cast<std::uint64_t>(word.limb[2]);
  const std::uint64_t from_low = multiply_high(low, total);
  const std::uint64_t middle = high * total;
  const std::uint64_t carry = middle + from_low < middle ? 1U : 0U;
  return multiply_high(high, total) + carry;
}

/// The winner: the first i whose prefix sum tickets[0] + … + tickets[i] exceeds the threshold.
///
/// tickets: [count]. Range: threshold < Σ tickets < 2^64; the caller has checked that Σ > 0.
TEMPERA_HOST_DEVICE inline std::uint64_t winner_of(const std::uint64_t* tickets,
                                                   std::uint64_t count, std::uint64_t threshold) {
  std::uint64_t prefix_sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    prefix_sum += tickets[i];
    if (prefix_sum > threshold) return i;
  }
  return count;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
