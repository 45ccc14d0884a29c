#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/core/lottery/draw_address.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "gpu/core/sampler/sweep.hpp"

namespace tempera::gpu {

/// One stage m: refinement at the horizon T_m, which preserves Π_m (`eq:theory-stage-targets`,
/// `eq:stage-joint-target`).
struct Stage {
  std::size_t horizon = 0;      ///< T_m = min(mB, T)
  std::size_t rounds = 0;       ///< N_m refinement rounds: n_local,m local moves of each rung, then
                                ///< n_sweep,m sweeps
  std::size_t local_moves = 1;  ///< n_local,m
  std::size_t sweeps = 1;       ///< n_sweep,m
};

/// The whole schedule of Algorithm 1.
struct Plan {
  std::vector<Stage> stages;
  Schedule schedule = Schedule::adj;
  Rung output = 0;  ///< k*, fixed before the run
  /// N of a sampler whose replicas are particles of one power; 0: one replica for each rung.
  std::size_t particles = 0;
  /// ω of every stage: weights of as many equal parts of {1, …, T_m} (RestartLaw::in_parts); none:
  /// uniform.
  std::vector<std::uint64_t> restart_weights = {};
  RestartRange restart_range = RestartRange::horizon;
  /// The sampler proposes until a proposal is kept, so that no stage counts them.
  bool until_kept = false;
  /// The most tokens that the proposals of one answer may take; 0: any number.
  std::size_t most_tokens = 0;

  std::size_t replicas(const Ladder& ladder) const {
    return particles == 0 ? ladder.rungs() : particles;
  }
};

/// The most particles of a run: the address of a draw tells as many apart as rungs.
inline constexpr std::size_t most_particles = addressable_rungs;

/// The most that Plan::most_tokens may be: no run takes more.
inline constexpr std::size_t largest_token_limit = std::size_t{1} << 40;

/// The longest horizon of a run, in tokens: the address of a draw tells 2^20 positions apart.
inline constexpr std::size_t longest_horizon = addressable_positions;

/// The most that a restart weight may be, so that the tickets of the longest horizon fit 64 bits.
inline constexpr std::uint64_t largest_restart_weight = 0xffff'ffff;

/// @throw BadInput naming `where` unless the weights make a restart law at every stage: at most as
/// many as the first stage has positions, none above largest_restart_weight, the first above 0
/// (`thm:fixed-horizon-convergence`); and if they or the range are given and no stage makes a local
/// move
void require_restart(const Plan& plan, const std::string& where);

/// The stages T_m = min(mB, T), m = 1, …, M = ceil(T/B).
///
/// rounds, local_moves, sweeps: one number for all stages, or one for each.
/// @throw BadInput if the horizon or block is 0, the horizon above longest_horizon, a list has
/// neither 1 nor M numbers, or the run has more rounds, local moves of a rung or sweeps than the
/// address of a draw tells apart, addressable_turns
std::vector<Stage> make_stages(std::size_t horizon, std::size_t block,
                               const std::vector<std::size_t>& rounds,
                               const std::vector<std::size_t>& local_moves,
                               const std::vector<std::size_t>& sweeps);

/// The plan of a prompt with a horizon of its own, after which the T of `plan` does not fit:
/// T_m = min(mB, horizon), m = 1, …, ceil(horizon/B), and N_m, n_local,m and n_sweep,m are those of
/// the plan's stages m.
/// @throw BadInput naming `where` unless the horizon is from 1 to the plan's, or if the first stage
/// has fewer positions then than there are restart weights
Plan cut_at(const Plan& plan, std::size_t horizon, const std::string& where);

}  // namespace tempera::gpu
