#include "gpu/sampler/stages.hpp"

#include <algorithm>
#include <string>

#include "gpu/bad_input.hpp"

namespace tempera::gpu {
namespace {

std::size_t at_stage(const std::vector<std::size_t>& counts, std::size_t m, std::size_t stages,
                     const std::string& name) {
  if (counts.size() == 1) return counts.front();
  if (counts.size() != stages)
    throw BadInput(
        name, std::to_string(counts.size()) + " numbers for " + std::to_string(stages) + " stages",
        "give one number for all stages, or one for each");
  return counts[m];
}

}  // namespace

std::vector<Stage> make_stages(std::size_t horizon, std::size_t block,
                               const std::vector<std::size_t>& rounds,
                               const std::vector<std::size_t>& local_moves,
                               const std::vector<std::size_t>& sweeps) {
  if (horizon == 0) throw BadInput("horizon", "is 0", "give a horizon of at least 1 token");
  if (block == 0) throw BadInput("block", "is 0", "give a block width of at least 1 token");
  const std::size_t count = (horizon + block - 1) / block;
  std::vector<Stage> stages;
  for (std::size_t m = 0; m < count; ++m)
    stages.push_back({std::min((m + 1) * block, horizon), at_stage(rounds, m, count, "rounds"),
                      at_stage(local_moves, m, count, "local moves"),
                      at_stage(sweeps, m, count, "sweeps")});
  return stages;
}

}  // namespace tempera::gpu
