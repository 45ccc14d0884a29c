#include "gpu/core/sampler/sweep.hpp"

#include "gpu/core/sampler/swap.hpp"

namespace tempera::gpu {

void sweep(std::vector<Record>& replicas, Chain& chain, Schedule schedule, std::size_t number) {
  const Stopwatch watch = chain.engine.time(&EngineTimes::swap);
  const bool layered = schedule == Schedule::deo;
  const Rung first = layered ? number % 2 : 0;
  for (Rung k = first; k + 1 < replicas.size(); k += layered ? 2 : 1)
    attempt_swap(replicas, Turn(chain, k, number, Purpose::swap));
}

}  // namespace tempera::gpu
