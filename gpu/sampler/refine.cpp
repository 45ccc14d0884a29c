#include "gpu/sampler/refine.hpp"

namespace tempera::gpu {

template Task refine<PaperRules>(Record& x, Run& run, Rung k, std::size_t first, std::size_t moves,
                                 const RestartLaw& law);

}  // namespace tempera::gpu
