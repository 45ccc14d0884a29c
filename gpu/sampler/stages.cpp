#include "gpu/sampler/stages.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "gpu/input/bad_input.hpp"

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

/// Σ_m N_m n_m below 2^32, the reach of a draw's address: a round that wrapped around would draw
/// with words that were drawn with before.
void require_addressable(const std::vector<Stage>& stages, std::size_t Stage::*count,
                         const std::string& name) {
  std::uint64_t left = std::uint64_t{1} << 32;
  for (const Stage& stage : stages) {
    if (stage.rounds == 0 || stage.*count == 0) continue;
    if (stage.*count > left / stage.rounds)
      throw BadInput(name, "the run has more than 2^32 of them", "give fewer rounds");
    left -= stage.rounds * stage.*count;
  }
}

}  // namespace

std::vector<Stage> make_stages(std::size_t horizon, std::size_t block,
                               const std::vector<std::size_t>& rounds,
                               const std::vector<std::size_t>& local_moves,
                               const std::vector<std::size_t>& sweeps) {
  if (horizon == 0) throw BadInput("horizon", "is 0", "give a horizon of at least 1 token");
  if (horizon > longest_horizon)
    throw BadInput("horizon", "is " + std::to_string(horizon),
                   "give a horizon of at most " + std::to_string(longest_horizon) + " tokens");
  if (block == 0) throw BadInput("block", "is 0", "give a block width of at least 1 token");
  const std::size_t count = horizon / block + (horizon % block == 0 ? 0 : 1);
  std::vector<Stage> stages;
  for (std::size_t m = 0; m < count; ++m)
    stages.push_back(
        {m + 1 == count ? horizon : (m + 1) * block, at_stage(rounds, m, count, "rounds"),
         at_stage(local_moves, m, count, "local moves"), at_stage(sweeps, m, count, "sweeps")});
  require_addressable(stages, &Stage::local_moves, "local moves");
  require_addressable(stages, &Stage::sweeps, "sweeps");
  return stages;
}

}  // namespace tempera::gpu
