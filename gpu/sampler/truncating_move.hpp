#pragma once

#include <algorithm>
#include <vector>

#include "gpu/sampler/rules.hpp"

namespace tempera::gpu {

/// One local update of the truncating sampler: the kernel P~ of `eq:condensed-fixed-kernel`.
///
/// The record's own length is the budget of the proposal, so a move may shorten it and none can
/// lengthen it; scores are cut at the candidate's endpoint, which hides the missing way back.
inline Task truncating_move(Record& x, Turn turn) {
  Event event;
  const std::size_t budget = x.length();
  const std::size_t r = event.restart = turn.restart(std::vector<std::uint64_t>(budget, 1));
  Record y = x.prefix_before(r);
  y.raise_horizon(budget);
  for (; y.open(); ++event.tokens) y.append(co_await turn.next_token(y));
  const std::size_t endpoint = y.length();
  event.proposed = true;
  event.log_ratio = y.sum_log_z(r, endpoint, turn.rung()) - x.sum_log_z(r, endpoint, turn.rung());
  event.accepted = turn.accept(event.log_ratio);
  if (event.accepted) {
    y.raise_horizon(x.horizon());
    x = std::move(y);
  }
  turn.note(event);
}

}  // namespace tempera::gpu
