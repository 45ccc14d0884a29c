#include "gpu/sampler/tokenwise_sampling.hpp"

namespace tempera::gpu {

Task tokenwise_sampling(Run& run, const Plan& plan, Progress& progress, Observer* observer) {
  if (progress.replicas.empty()) co_await initialize_records(run, 1, progress.replicas);
  for (; progress.stage < plan.stages.size(); end_stage(progress))
    co_await begin_stage(run, progress, plan.stages[progress.stage].horizon, observer);
}

}  // namespace tempera::gpu
