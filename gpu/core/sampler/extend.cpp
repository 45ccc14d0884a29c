#include "gpu/core/sampler/extend.hpp"

namespace tempera::gpu {

Task extend(Record& x, Turn turn, std::size_t horizon) {
  Event event{.kind = Event::Kind::extension};
  const std::size_t first = x.length() + 1;
  x.raise_horizon(horizon);
  for (; x.open(); ++event.tokens) x.append(co_await turn.next_token(x));
  event.drawn = turn.kept_for_audit(x, first);
  turn.note(std::move(event));
}

}  // namespace tempera::gpu
