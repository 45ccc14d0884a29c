#include "gpu/sampler/run.hpp"

namespace tempera::gpu {

Task initialize_replicas(Run& run, std::vector<Record>& replicas) {
  if (run.prompt_cache == nullptr) run.prompt_cache = run.engine.model().empty_cache();
  co_await run.engine.compute(*run.prompt_cache, run.context.prompt);
  for (Rung k = 0; k < run.ladder.rungs(); ++k)
    replicas.emplace_back(run.context, run.prompt_cache->fork(run.prompt_cache->length()));
}

}  // namespace tempera::gpu
