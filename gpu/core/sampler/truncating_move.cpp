#include "gpu/core/sampler/truncating_move.hpp"

#include <utility>
#include <vector>

namespace tempera::gpu {

Task truncating_move(Record& x, Turn turn) {
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
  event.drawn = turn.kept_for_audit(y, r);
  if (event.accepted) {
    y.raise_horizon(x.horizon());
    x = std::move(y);
  } else {
    x.take_prefix_of(y, r);
  }
  turn.note(std::move(event));
}

}  // namespace tempera::gpu
