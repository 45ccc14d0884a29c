#include "gpu/sampler/run.hpp"

namespace tempera::gpu {

std::vector<Record> Run::empty_replicas() const {
  const std::unique_ptr<Cache> prompt_cache = engine.model().empty_cache();
  if (!context.prompt.empty()) {
    DeviceMemory<float> logits;
    const Pass pass{prompt_cache.get(), context.prompt};
    engine.model().next_logits(std::span(&pass, 1), logits);
  }
  std::vector<Record> replicas;
  for (Rung k = 0; k < ladder.rungs(); ++k)
    replicas.emplace_back(context, prompt_cache->fork(prompt_cache->length()));
  return replicas;
}

}  // namespace tempera::gpu
