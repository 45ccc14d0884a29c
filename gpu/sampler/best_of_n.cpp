#include "gpu/sampler/best_of_n.hpp"

namespace tempera::gpu {

template Task best_of_n<LikelihoodRules>(Run& run, const Plan& plan, Progress& progress,
                                         Observer* observer);

}  // namespace tempera::gpu
