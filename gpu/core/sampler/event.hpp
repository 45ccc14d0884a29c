#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/core/model/language_model.hpp"
#include "gpu/core/sampler/ladder.hpp"

namespace tempera::gpu {

/// What became of one block extension, one local move, one attempted swap or one look at the
/// particles' weights.
struct Event {
  enum class Kind { extension, local_move, swap, resampling } kind = Kind::local_move;
  Rung rung = 0;  ///< that moved, or the particle that did; the lower rung of a swapped edge
  /// What the addresses of its draws hold: the stage, the local move of its rung, or the sweep.
  std::uint32_t turn = 0;
  std::size_t restart = 0;  ///< restart position r of a local move; else 0
  std::size_t tokens = 0;   ///< tokens that were drawn
  bool proposed = false;    ///< false if r > τ(x): the proposal is x itself
  bool accepted = false;
  bool changed = false;  ///< of a local move or swap: accepted, and other records than before
  /// A local move or swap compares it with log 1. A look at the particles' weights has the log of
  /// their mean here, since they were last resampled.
  double log_ratio = 0.0;
  /// Whether a local move's rejection was certain before its proposal was complete: then log_ratio
  /// is an upper bound of the ratio.
  bool early = false;
  std::size_t horizon = 0;  ///< T_m of a local move
  /// The effective sample size before a resampling, which decided whether it was `accepted`.
  double effective_sample_size = 0.0;
  /// The number of consecutive proposals of exact rejection in the event, all dead if more than
  /// one; `turn` and `log_ratio` belong to the last, `tokens` to all.
  std::size_t proposals = 1;
  /// The tokens that were drawn, if ChainOptions::auditable. An event of dead proposals of
  /// exact rejection has, for each that drew any: its index in the event, how many, and these.
  std::vector<TokenId> drawn = {};
};

}  // namespace tempera::gpu
