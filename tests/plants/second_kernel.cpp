// Second copies of the sampler's kernels, for the test that is to find them: an instance of the
// paper's rules beside the library's, and a function of one's own with the same text.
#include "gpu/core/sampler/local_move.hpp"
#include "gpu/core/sampler/swap.hpp"

namespace tempera::gpu {

template Task local_move<PaperRules>(Record& x, Turn turn, const RestartLaw& law);
template void attempt_swap<PaperRules>(std::vector<Record>& replicas, Turn turn);

namespace planted {

Task extend(Record& x, Turn turn, std::size_t horizon) {
  x.raise_horizon(horizon);
  while (x.open()) x.append(co_await turn.next_token(x));
}

}  // namespace planted

}  // namespace tempera::gpu
