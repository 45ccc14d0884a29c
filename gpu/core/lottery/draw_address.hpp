#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "gpu/core/lottery/philox.hpp"

namespace tempera::gpu {

/// What a draw decides. Part of its address, so that no two decisions share a word. Below 2^8.
enum class Purpose : std::uint16_t {
  extension_token = 1,  ///< a token of block extension, `eq:implementation-extension`
  restart_position,     ///< r ~ omega
  proposal_token,       ///< a token of a local proposal, `eq:implementation-fixed-suffix-proposal`
  accept,               ///< a local move, `eq:implementation-local-mh-acceptance`
  swap,                 ///< an adjacent exchange, `eq:implementation-swap-general`
  resample,             ///< the offspring of all particles, by systematic resampling
  final_particle,       ///< the particle that is PowerSMC's answer
  survival,             ///< whether a proposal of exact rejection outlives a token
};

/// How many of each an address tells apart. Whoever plans a run refuses what is beyond them.
inline constexpr std::uint64_t addressable_prompts = std::uint64_t{1} << 32;
inline constexpr std::uint64_t addressable_samples = std::uint64_t{1} << 20;
inline constexpr std::uint64_t addressable_turns = std::uint64_t{1} << 24;
inline constexpr std::uint64_t addressable_positions = std::uint64_t{1} << 20;
inline constexpr std::uint64_t addressable_rungs = std::uint64_t{1} << 16;
inline constexpr std::uint64_t addressable_pilots = 255;

/// The address of a draw among all that one run can do. The word of a draw is a function of the
/// seed and of this alone: never of batch slot, thread or time.
struct DrawAddress {
  std::uint32_t prompt_index = 0;
  std::uint32_t sample_index = 0;  ///< below 2^20
  std::uint16_t rung = 0;  ///< of the move, or the particle; the edge's lower rung for a swap
  /// Below 2^24; counted from the start of the run: the stage of a block extension, a rung's local
  /// moves, the run's sweeps, the proposals of exact rejection.
  std::uint32_t turn = 0;
  /// t − 1 for the token x_t and for its survival, below 2^20; 0 for the other draws
  std::uint32_t position = 0;
  Purpose purpose = Purpose::extension_token;
  std::uint8_t pilot = 0;  ///< number of the pilot that it is for; 0 for a run that gives answers

  friend bool operator==(const DrawAddress&, const DrawAddress&) = default;
};

/// One draw: all that its word depends on.
struct Draw {
  std::uint64_t seed = 0;  ///< Philox's key
  DrawAddress address;     ///< Philox's counter
};

/// The Philox counter of an address: an injection, since the fields fill 128 bits side by side.
/// @throw Bug if a field is beyond its width, so that no address passes for another
inline Word counter_of(const DrawAddress& address) {
  if (address.sample_index >= addressable_samples || address.turn >= addressable_turns ||
      address.position >= addressable_positions)
    throw Bug("a draw lies outside the addresses of a run");
  const auto purpose = static_cast<std::uint32_t>(address.purpose);
  return {{address.prompt_index, address.sample_index | address.turn << 20,
           address.turn >> 12 | address.position << 12,
           static_cast<std::uint32_t>(address.rung) << 16 |
               static_cast<std::uint32_t>(address.pilot) << 8 | purpose}};
}

}  // namespace tempera::gpu
