#include "gpu/sampler/swap.hpp"

namespace tempera::gpu {

template void attempt_swap<PaperRules>(std::vector<Record>& replicas, Turn turn);

}  // namespace tempera::gpu
