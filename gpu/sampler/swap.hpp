#pragma once

#include <vector>

#include "gpu/sampler/rules.hpp"

namespace tempera::gpu {

/// Attempts the exchange of rungs k and k + 1: the kernel W_k, `eq:implementation-swap-general`,
/// `eq:swap-accept-llm`.
/// No model call: the records carry their scores and caches.
template <class Rules = PaperRules>
void attempt_swap(std::vector<Record>& replicas, Turn turn) {
  const Rung k = turn.rung();
  Event event{.kind = Event::Kind::swap, .proposed = true};
  event.log_ratio = Rules::swap_log_ratio(replicas[k], replicas[k + 1], turn.ladder(), k);
  event.accepted = turn.accept(event.log_ratio, Purpose::swap);
  if (event.accepted) Rules::exchange(replicas[k], replicas[k + 1]);
  turn.note(event);
}

/// The communication schedule of one sweep.
enum class Schedule {
  adj,  ///< ordered: edges 1, …, K − 1, each acting on the result of the one before
  deo,  ///< deterministic even–odd: one parity layer a sweep, odd edges first
};

/// One sweep: C = W_1 ⋯ W_{K−1} under ADJ, one parity layer under DEO. `number` counts the
/// run's sweeps from 0, through all stages.
template <class Rules = PaperRules>
void sweep(std::vector<Record>& replicas, Run& run, Schedule schedule, std::size_t number) {
  const bool layered = schedule == Schedule::deo;
  const Rung first = layered ? number % 2 : 0;
  for (Rung k = first; k + 1 < replicas.size(); k += layered ? 2 : 1)
    attempt_swap<Rules>(replicas, Turn(run, k, number, Purpose::swap));
}

}  // namespace tempera::gpu
