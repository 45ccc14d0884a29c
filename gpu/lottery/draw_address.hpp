#pragma once

#include <cstdint>

#include "gpu/lottery/philox.hpp"

namespace tempera::gpu {

/// What a draw decides. Part of its address, so that no two decisions share a word.
enum class Purpose : std::uint16_t {
  extension_token = 1,  ///< a token of block extension, `eq:implementation-extension`
  restart_position,     ///< r ~ omega
  proposal_token,       ///< a token of a local proposal, `eq:implementation-fixed-suffix-proposal`
  accept,               ///< a local move, `eq:implementation-local-mh-acceptance`
  swap,                 ///< an adjacent exchange, `eq:implementation-swap-general`
};

/// Where in the run a draw stands. The word of a draw is a function of the seed and of this alone:
/// never of batch slot, thread or time.
///
/// `round` counts, from the start of the run, local moves for their draws, sweeps for swaps, and
/// stages for block extension. `rung` is the edge for a swap. `position` is the token's position t,
/// and 0 for the other draws.
struct DrawAddress {
  std::uint32_t prompt = 0;
  std::uint16_t rung = 0;
  std::uint32_t round = 0;
  std::uint32_t position = 0;
  Purpose purpose = Purpose::extension_token;

  friend bool operator==(const DrawAddress&, const DrawAddress&) = default;
};

/// The Philox counter of an address: an injection, since the five fields fill 128 bits.
TEMPERA_HOST_DEVICE inline Word counter_of(const DrawAddress& address) {
  const auto purpose = static_cast<std::uint32_t>(address.purpose);
  return {{address.position, address.round, address.prompt,
           (static_cast<std::uint32_t>(address.rung) << 16) | purpose}};
}

}  // namespace tempera::gpu
