#pragma once

#include <vector>

#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
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

/// What a run of a sampler leaves and takes.
struct ProgressiveRun {
  Law law;                     ///< of the records that it ends with
  Rational decode_tokens = 0;  ///< the expected number
};

/// How the local moves of every stage choose their restart positions.
struct StageRestart {
  std::vector<Rational> weights{1};  ///< of as many equal parts of 1..T_m (RestartLaw::in_parts)
  RestartRange range = RestartRange::horizon;
};

/// Law of all K records that Algorithm 1 (alg:PPT) holds when it ends, on S_T^K: from empty
/// records, at each stage block extension, then N_m rounds of n_local local sweeps and n_sweep swap
/// sweeps, with restart positions uniform over the stage's horizon. Parity layers alternate through
/// the whole run. `stages` has one entry per stage, or one for all.
/// @throw BadInput if it has another number, or a stage is too large
Law progressive_law(const FiniteModel& model, std::size_t horizon, std::size_t block,
                    const Ladder& ladder, const std::vector<StageSchedule>& stages,
                    Schedule schedule = Schedule::adj);

/// progressive_law, with other restart positions if they are asked for, and the expected decode
/// tokens of all rungs: those of the block extensions, and of every local move the regenerated
/// suffix, accepted or not.
/// @throw BadInput as progressive_law
ProgressiveRun progressive_run(const FiniteModel& model, std::size_t horizon, std::size_t block,
                               const Ladder& ladder, const std::vector<StageSchedule>& stages,
                               Schedule schedule = Schedule::adj, const StageRestart& restart = {});

/// Law, on the comparison space of `horizon`, of the record that the truncating sampler holds when
/// it ends (sec:truncation-lower-bound): from the empty record, at each stage an open record is
/// extended by tokens of g_α to the stage's horizon, then moved N_m n_local times by P-tilde; it
/// ends with the first stage that leaves the record terminated, or with the last. Sweeps play no
/// part.
/// @throw BadInput as progressive_law
Law truncating_progressive_law(const FiniteModel& model, std::size_t horizon, std::size_t block,
                               const Power& power, const std::vector<StageSchedule>& stages);

/// truncating_progressive_law with the expected decode tokens.
/// @throw BadInput as progressive_law
ProgressiveRun truncating_progressive_run(const FiniteModel& model, std::size_t horizon,
                                          std::size_t block, const Power& power,
                                          const std::vector<StageSchedule>& stages);

}  // namespace tempera::reference
