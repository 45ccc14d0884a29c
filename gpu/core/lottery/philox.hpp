#pragma once

#include <cstdint>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu {

/// 128 bits: a word of Philox, as four 32-bit limbs, least significant first.
struct Word {
  std::uint32_t limb[4];
};

inline namespace TEMPERA_INSTRUCTION_SET {

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011): a bijection of 128-bit counters for every
/// 64-bit key. Ten rounds; the test holds it against the authors' known-answer vectors.
TEMPERA_HOST_DEVICE inline Word philox(Word counter, std::uint64_t key) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53;
  constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9;
  constexpr std::uint32_t weyl_1 = 0xBB67AE85;
  auto key_0 = static_cast<std::uint32_t>(key);
  auto key_1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter.limb[0];
    const std::uint64_t product_1 = multiplier_1 * counter.limb[2];
    counter = {{static_cast<std::uint32_t>(product_1 >> 32) ^ counter.limb[1] ^ key_0,
                static_cast<std::uint32_t>(product_1),
                static_cast<std::uint32_t>(product_0 >> 32) ^ counter.limb[3] ^ key_1,
                static_cast<std::uint32_t>(product_0)}};
    key_0 += weyl_0;
    key_1 += weyl_1;
  }
  return counter;
}

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
