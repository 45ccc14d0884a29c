#include "gpu/sampler/refine.hpp"

namespace tempera::gpu {

template Task refine<PaperRules>(Record& x, Run& run, Rung k, MoveNumbers numbers,
                                 const RestartLaw& law, MovesAhead& begun);
template Task refine<RecordRestartRules>(Record& x, Run& run, Rung k, MoveNumbers numbers,
                                         const RestartLaw& law, MovesAhead& begun);

}  // namespace tempera::gpu
