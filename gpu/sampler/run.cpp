#include "gpu/sampler/run.hpp"

namespace tempera::gpu {

Task initialize_records(Run& run, std::size_t count, std::vector<Record>& records) {
  if (run.prompt_cache == nullptr) run.prompt_cache = run.engine.model().empty_cache();
  co_await run.engine.compute(*run.prompt_cache, run.context.prompt);
  for (std::size_t i = 0; i < count; ++i)
    records.emplace_back(run.context, run.prompt_cache->fork(run.prompt_cache->length()));
}

}  // namespace tempera::gpu
