#include "gpu/sampler/uncoupled_ladder.hpp"

namespace tempera::gpu {

template Task uncoupled_ladder<ColdestRung>(Run& run, const Plan& plan, Progress& progress,
                                            Observer* observer);
template Task uncoupled_ladder<LikeliestRung>(Run& run, const Plan& plan, Progress& progress,
                                              Observer* observer);

}  // namespace tempera::gpu
