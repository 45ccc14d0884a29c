#include "gpu/core/sampler/power_smc.hpp"

namespace tempera::gpu {

void resample_systematically(std::vector<Record>& particles, std::span<const std::uint64_t> weights,
                             Turn turn) {
  const SystematicResampling resampling(weights);
  const std::size_t cell = turn.choose(resampling.tickets, Purpose::resample);
  std::vector<Record> offspring;
  for (const std::size_t ancestor : resampling.ancestors(cell))
    offspring.push_back(particles[ancestor].copy());
  particles = std::move(offspring);
}

template Task power_smc<PowerSmcRules>(Chain& chain, const Plan& plan, Progress& progress,
                                       Observer* observer);

}  // namespace tempera::gpu
