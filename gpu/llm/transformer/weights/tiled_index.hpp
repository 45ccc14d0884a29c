#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Value heads that share a key head are side by side. Tiled, those that share none do: first one
/// of every key head, then a second one of each, and so on. Where a head then is.
TEMPERA_HOST_DEVICE constexpr std::size_t tiled_index(std::size_t key_heads,
                                                      std::size_t value_heads, std::size_t head) {
  const std::size_t sharing = value_heads / key_heads;
  return head % sharing * key_heads + head / sharing;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
