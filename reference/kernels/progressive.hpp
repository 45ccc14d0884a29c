#pragma once

#include <vector>

#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::reference {

/// What Algorithm 1 does at one stage after extending the records.
struct StageSchedule {
  std::size_t rounds;       ///< N_m
  std::size_t local_moves;  ///< n_local
  std::size_t sweeps;       ///< n_sweep
};

/// T_m = min(mB, T) for m = 1..ceil(T/B).
/// @throw BadInput if the block or horizon is 0
std::vector<std::size_t> stage_horizons(std::size_t horizon, std::size_t block);

/// Π_m(X) = Π_k π_{m,k}(x^(k)) on S_{T_m}^K with π_{m,k} = π_{α_k, T_m}, m from 1 to M = ceil(T/B):
/// what the kernels of stage m preserve (eq:theory-stage-targets, eq:stage-joint-target). Π_M is
/// Π_T.
/// @throw BadInput if there is no such stage, it is too large, or a probability to a power is
/// irrational
Law stage_target(const FiniteModel& model, std::size_t horizon, std::size_t block,
                 const Ladder& ladder, std::size_t m);

/// Law of all K records that Algorithm 1 (alg:PPT) holds when it ends, on S_T^K: from empty
/// records, at each stage block extension, then N_m rounds of R^{n_local} C^{n_sweep} with restart
/// positions uniform over the stage's horizon. `stages` has one entry per stage, or one for all.
/// @throw BadInput if it has another number, or a stage is too large
Law progressive_law(const FiniteModel& model, std::size_t horizon, std::size_t block,
                    const Ladder& ladder, const std::vector<StageSchedule>& stages);

}  // namespace tempera::reference
