#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "base/checksum.hpp"
#include "gpu/core/lottery/philox.hpp"

namespace tempera::gpu {

/// The 64 bits that tell a prompt's draws from those of every other prompt: 32 in the address of
/// each draw, 32 in the upper half of the seed (by exclusive or). Prompts with different numbers
/// never share a word of chance under one seed.
struct PromptNumber {
  std::uint32_t in_address = 0;
  std::uint32_t in_seed = 0;

  std::uint64_t seed(std::uint64_t run_seed) const {
    return run_seed ^ (static_cast<std::uint64_t>(in_seed) << 32);
  }
  // clang-tidy takes the comparison with 0 inside for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const PromptNumber&, const PromptNumber&) = default;
};

/// The number of a prompt with an id: FNV-1a of the id, 64 bits, mixed by Philox under the key 0.
/// It depends on the id alone, so a prompt's answers do not depend on which other prompts are drawn
/// beside it. Two ids share a number with probability 2^-64; who takes a list of ids refuses that.
inline PromptNumber prompt_number(std::string_view id) {
  Checksum hash;
  hash.update(id);
  const Word word = philox({{static_cast<std::uint32_t>(hash.value()),
                             static_cast<std::uint32_t>(hash.value() >> 32), 0, 0}},
                           0);
  return {word.limb[0], word.limb[1]};
}

}  // namespace tempera::gpu
