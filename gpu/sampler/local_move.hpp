#pragma once

#include "gpu/sampler/rules.hpp"

namespace tempera::gpu {

/// Step 1 of Algorithm 1: extends an open record to the horizon T_m with tokens of g_{α_k},
/// `eq:implementation-extension`, `eq:proposal-g`. The padding behind a terminal token is implicit.
inline Task extend(Record& x, Turn turn, std::size_t horizon) {
  Event event{.kind = Event::Kind::extension};
  x.raise_horizon(horizon);
  for (; x.open(); ++event.tokens) x.append(co_await turn.next_token(x));
  turn.note(event);
}

/// Step 2 of Algorithm 1, one local update of rung k: L_k = Σ_r ω(r) L_{k,r}.
///
/// Proposes y ~ q_r(· | x) (`eq:implementation-fixed-suffix-proposal`,
/// `eq:fixed-horizon-proposal`) and accepts it with probability 1 ∧ R
/// (`eq:implementation-local-mh-acceptance`, `eq:local-accept`, `eq:accept-ratio`).
template <class Rules = PaperRules>
Task local_move(Record& x, Turn turn, const RestartLaw& law) {
  Event event;
  const std::size_t r = event.restart = Rules::restart_position(turn, law, x);
  if (r <= x.terminal_position()) {  // behind τ(x) the proposal is x itself: no model call
    Record y = x.prefix_before(r);
    for (; y.open(); ++event.tokens) y.append(co_await turn.next_token(y));
    event.proposed = true;
    event.log_ratio = Rules::local_log_ratio(x, y, r, turn.rung());
    event.accepted = turn.accept(event.log_ratio);
    if (event.accepted) x = std::move(y);
  }
  turn.note(event);
}

}  // namespace tempera::gpu
