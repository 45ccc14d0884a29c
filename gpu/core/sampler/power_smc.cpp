#include "gpu/core/sampler/power_smc.hpp"

#include "gpu/core/sampler/extend.hpp"

namespace tempera::gpu {

Task extend_particles(Chain& chain, Progress& progress, std::size_t horizon, Rung rung) {
  std::vector<Task> extensions;
  for (std::size_t i = 0; i < progress.replicas.size(); ++i)
    extensions.push_back(
        extend(progress.replicas[i],
               Turn(chain, i, progress.stage, Purpose::extension_token, nullptr, rung), horizon));
  co_await all(std::move(extensions));
}

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
