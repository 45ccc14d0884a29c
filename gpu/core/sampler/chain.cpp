#include "gpu/core/sampler/chain.hpp"

namespace tempera::gpu {

Task initialize_records(Chain& chain, std::size_t count, std::vector<Record>& records) {
  if (chain.prompt_cache == nullptr) chain.prompt_cache = chain.engine.model().empty_cache();
  co_await chain.engine.compute(*chain.prompt_cache, chain.context.prompt);
  for (std::size_t i = 0; i < count; ++i)
    records.emplace_back(chain.context, chain.prompt_cache->fork(chain.prompt_cache->length()));
}

}  // namespace tempera::gpu
