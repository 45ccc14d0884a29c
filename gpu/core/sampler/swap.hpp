#pragma once

#include <vector>

#include "gpu/core/sampler/rules.hpp"

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
  event.changed = event.accepted && differ_from(1, replicas[k], replicas[k + 1]);
  if (event.accepted) Rules::exchange(replicas[k], replicas[k + 1]);
  turn.note(event);
}

/// The paper's kernel is compiled once, in instances.cpp: what lab/ enumerates is what runs.
extern template void attempt_swap<PaperRules>(std::vector<Record>& replicas, Turn turn);

}  // namespace tempera::gpu
