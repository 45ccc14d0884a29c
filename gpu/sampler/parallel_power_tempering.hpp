#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/sampler/run.hpp"
#include "gpu/sampler/stages.hpp"

namespace tempera::gpu {

/// The state of a run between two rounds: all that a checkpoint must hold.
struct Progress {
  std::vector<Record> replicas;  ///< one per rung; none before the prompt is computed
  std::size_t stage = 0;         ///< index of the stage that comes next or goes on
  bool extended = false;         ///< whether its block extension is done
  std::size_t round = 0;         ///< refinement rounds done in it, of N_m
  std::size_t local_moves = 0;   ///< local moves of each rung done since the start
  std::size_t sweeps = 0;        ///< sweeps done since the start
};

/// Is told of every block extension and every round as it ends: the moments at which a run can be
/// cut and taken up again.
class Observer {
 public:
  virtual ~Observer() = default;
  /// `events`: since the last call, sorted: extensions, local moves by turn and rung, swaps.
  virtual void advanced(const Progress& progress, std::span<const Event> events) = 0;
};

/// Algorithm 1 (`alg:PPT`): Progressive fixed-horizon parallel tempering. Goes on from `progress`
/// (a new one to begin with) and leaves there the replicas of the last stage; the record at rung k*
/// is the answer. n_local moves of one rung follow each other without waiting for the other rungs,
/// which is R^{n_local}, since R is a product over rungs.
Task parallel_power_tempering(Run& run, const Plan& plan, Progress& progress,
                              Observer* observer = nullptr);

/// What Algorithm 1 returns: the record at rung k*.
const Record& answer_of(const Progress& progress, const Plan& plan);

/// The power sampler of Karan and Du as the paper describes it (Section
/// `sec:truncation-lower-bound`): progressive blocks, restart uniform over {1, …, len(x)}, the
/// suffix regenerated only through len(x), the ratio of the token scores through the candidate's
/// endpoint; it stops early, after the first stage that ends with a terminated record, as the
/// released program does. It does not preserve the target; it is here to be compared with. Uses the
/// first rung alone.
Task truncating_power_sampling(Run& run, const Plan& plan, Progress& progress,
                               Observer* observer = nullptr);

}  // namespace tempera::gpu
