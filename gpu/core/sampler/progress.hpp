#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "gpu/core/sampler/chain.hpp"
#include "gpu/core/sampler/position.hpp"
#include "gpu/core/sampler/sampler_function.hpp"
#include "gpu/core/sampler/stages.hpp"

namespace tempera::gpu {

/// The state of a run between two rounds: all that a checkpoint must hold.
struct Progress : Position {
  /// One per rung, or the particles; none before the prompt is computed.
  std::vector<Record> replicas = {};
  /// The replica that is the answer, if the sampler chooses it when it ends.
  std::optional<std::size_t> answer = std::nullopt;
  /// Seen by exact rejection since it began or was resumed, by position t − 1: Σ z of the
  /// proposals that reached it, and how many did.
  struct Survival {
    double sum = 0.0;
    std::size_t proposals = 0;
  };
  std::vector<Survival> survival = {};
};

/// Local moves of each rung, by their numbers as Progress::local_moves counts.
struct MoveNumbers {
  std::size_t first = 0;      ///< of the round
  std::size_t round_end = 0;  ///< one after the last of the round
  std::size_t stage_end = 0;  ///< one after the last of the stage
};

/// The numbers of the local moves of the next round.
inline MoveNumbers moves_of_round(const Progress& progress, const Stage& stage) {
  const std::size_t first = progress.local_moves;
  const std::size_t moves = stage.local_moves;
  return {first, first + moves, first + (stage.rounds - progress.round) * moves};
}

/// Is told of every block extension and every round as it ends: the moments at which a run can be
/// cut and resumed.
class Observer {
 public:
  virtual ~Observer() = default;
  /// `events`: since the last call, sorted: extensions, local moves by turn and rung, swaps,
  /// resamplings.
  virtual void round_ended(const Progress& progress, std::span<const Event> events) = 0;
};

/// The answer of a run that has ended: the replica that its sampler chose, else the record at rung
/// k*, which Algorithm 1 returns.
const Record& answer_of(const Progress& progress, const Plan& plan);

/// Step 1 of Algorithm 1 for all replicas at once.
Task extend_all(Chain& chain, Progress& progress, std::size_t horizon);
/// extend_all, unless a resumed run has done it already; then tells the observer.
Task begin_stage(Chain& chain, Progress& progress, std::size_t horizon, Observer* observer);
/// Makes the next stage the one that comes.
void end_stage(Progress& progress);
/// Tells the observer, if there is one, of what has happened since it was last told.
void report(Chain& chain, const Progress& progress, Observer* observer);

}  // namespace tempera::gpu
