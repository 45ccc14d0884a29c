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

/// T_m = min(mB, T) for m = 1..ceil(T/B). Throws BadInput when the block or horizon is 0.
std::vector<std::size_t> stage_horizons(std::size_t horizon, std::size_t block);

/// Law of all K records that Algorithm 1 (alg:PPT) holds when it ends, on S_T^K: from empty
/// records, at each stage block extension, then N_m rounds of R^{n_local} C^{n_sweep} with restart
/// positions uniform over the stage's horizon. `stages` has one entry per stage, or one for all.
/// Throws BadInput for another number of entries and where a stage is too large.
Law progressive_law(const FiniteModel& model, std::size_t horizon, std::size_t block,
                    const Ladder& ladder, const std::vector<StageSchedule>& stages);

}  // namespace tempera::reference
