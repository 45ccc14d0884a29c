#pragma once

#include <compare>
#include <cstddef>

namespace tempera::gpu {

/// How far a run is between two rounds.
struct Position {
  std::size_t stage = 0;  ///< index of the stage that comes next or goes on
  bool extended = false;  ///< whether its block extension is done
  std::size_t round = 0;  ///< refinement rounds done in it, of N_m
  /// Local moves of each rung done since the start; of exact rejection, its proposals.
  std::size_t local_moves = 0;
  std::size_t sweeps = 0;  ///< sweeps done since the start
  /// The horizon at which the particles were last resampled: the weights of PowerSMC are products
  /// over the positions after it.
  std::size_t resampled = 0;
  /// Tokens that exact rejection has drawn since the start, which Plan::most_tokens bounds.
  std::size_t drawn = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Position&, const Position&) = default;
};

}  // namespace tempera::gpu
