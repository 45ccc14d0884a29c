#include "gpu/core/sampler/extend.hpp"

namespace tempera::gpu {

Task extend(Record& x, Turn turn, std::size_t horizon) {
  Event event{.kind = Event::Kind::extension};
  x.raise_horizon(horizon);
  for (; x.open(); ++event.tokens) x.append(co_await turn.next_token(x));
  turn.note(event);
}

}  // namespace tempera::gpu
