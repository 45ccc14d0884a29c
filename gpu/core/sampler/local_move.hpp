#pragma once

#include "gpu/core/sampler/early_rejection.hpp"
#include "gpu/core/sampler/rules.hpp"

namespace tempera::gpu {

/// Step 2 of Algorithm 1, one local update of rung k: L_k = Σ_r ω(r) L_{k,r}.
///
/// Proposes y ~ q_r(· | x) (`eq:implementation-fixed-suffix-proposal`,
/// `eq:fixed-horizon-proposal`) and accepts it with probability 1 ∧ R
/// (`eq:implementation-local-mh-acceptance`, `eq:local-accept`, `eq:accept-ratio`). A proposal
/// whose rejection is certain is not drawn to its end if the run rejects early. A move that
/// began ahead of its turn decides when that has come.
template <class Rules = PaperRules>
Task local_move(Record& x, Turn turn, const RestartLaw& law) {
  Event event{.horizon = x.horizon()};
  const std::size_t r = event.restart = Rules::restart_position(turn, law, x);
  event.proposed = r <= x.terminal_position();
  if (!event.proposed) {  // after τ(x) the proposal is x itself: no model call
    co_await turn.granted();
  } else {
    Record y = x.prefix_before(r);
    EarlyRejection<Rules> rejection(x, law, r, turn);
    for (; y.open() && !rejection.is_certain(y); ++event.tokens)
      y.append(co_await turn.next_token(y));
    event.early = y.open();
    event.drawn = turn.kept_for_audit(y, r);
    co_await turn.granted();
    if (event.early) {
      event.log_ratio = rejection.bound();
    } else {
      const Stopwatch watch = turn.time(&EngineTimes::accept);
      event.log_ratio = Rules::local_log_ratio(x, y, r, turn.rung()) +
                        Rules::restart_log_factor(law, x.length(), y.length());
      event.accepted = rejection.accept(event.log_ratio);
      event.changed = event.accepted && differ_from(r, x, y);
    }
    if (event.accepted)
      x = std::move(y);
    else
      x.take_prefix_of(y, r);
  }
  turn.note(std::move(event));
}

/// Each kernel is compiled once, in instances.cpp: what lab/ enumerates is what runs.
extern template Task local_move<PaperRules>(Record& x, Turn turn, const RestartLaw& law);
extern template Task local_move<RecordRestartRules>(Record& x, Turn turn, const RestartLaw& law);

}  // namespace tempera::gpu
