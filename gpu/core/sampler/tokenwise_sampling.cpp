#include "gpu/core/sampler/tokenwise_sampling.hpp"

namespace tempera::gpu {

Task tokenwise_sampling(Chain& chain, const Plan& plan, Progress& progress, Observer* observer) {
  if (progress.replicas.empty()) co_await initialize_records(chain, 1, progress.replicas);
  for (; progress.stage < plan.stages.size(); end_stage(progress))
    co_await begin_stage(chain, progress, plan.stages[progress.stage].horizon, observer);
}

}  // namespace tempera::gpu
