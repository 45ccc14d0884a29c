#include "gpu/sampler/run.hpp"

namespace tempera::gpu {

std::vector<Record> Run::empty_replicas() const {
  std::vector<Record> replicas;
  for (Rung k = 0; k < ladder.rungs(); ++k)
    replicas.emplace_back(context, engine.model().empty_cache());
  return replicas;
}

}  // namespace tempera::gpu
