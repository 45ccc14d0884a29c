#include "gpu/core/sampler/stages.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/error.hpp"

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

/// Σ_m N_m n_m at most 2^24, the reach of a draw's address: a turn that wrapped around would draw
/// with words that were drawn with before.
template <class Count>
void require_addressable(const std::vector<Stage>& stages, Count count, const std::string& name) {
  std::uint64_t left = addressable_turns;
  for (const Stage& stage : stages) {
    const std::uint64_t in_a_round = count(stage);
    if (stage.rounds == 0 || in_a_round == 0) continue;
    if (in_a_round > left / stage.rounds)
      throw BadInput(name, "the run has more than 2^24 of them", "give fewer rounds");
    left -= stage.rounds * in_a_round;
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
  require_addressable(
      stages, [](const Stage&) { return 1; }, "rounds");
  require_addressable(
      stages, [](const Stage& m) { return m.local_moves; }, "local moves");
  require_addressable(
      stages, [](const Stage& m) { return m.sweeps; }, "sweeps");
  return stages;
}

Plan cut_at(const Plan& plan, std::size_t horizon, const std::string& where) {
  if (horizon == 0 || horizon > plan.stages.back().horizon)
    throw BadInput(where, "has a horizon of " + std::to_string(horizon),
                   "give 1 to " + std::to_string(plan.stages.back().horizon) + " tokens");
  Plan cut = plan;
  const auto last = std::find_if(cut.stages.begin(), cut.stages.end(),
                                 [&](const Stage& m) { return m.horizon >= horizon; });
  last->horizon = horizon;
  cut.stages.erase(last + 1, cut.stages.end());
  const std::size_t positions = cut.stages.front().horizon;
  if (plan.restart_weights.size() > positions)
    throw BadInput(where,
                   "restart weights are " + std::to_string(plan.restart_weights.size()) +
                       " for the " + std::to_string(positions) + " positions of its first stage",
                   "give no more weights than that, or leave the prompt out");
  return cut;
}

void require_restart(const Plan& plan, const std::string& where) {
  const std::vector<std::uint64_t>& weights = plan.restart_weights;
  if (weights.empty() && plan.restart_range == RestartRange::horizon) return;
  if (std::none_of(plan.stages.begin(), plan.stages.end(),
                   [](const Stage& m) { return m.rounds > 0 && m.local_moves > 0; }))
    throw BadInput(where, "have no effect on a run without local moves", "leave them out");
  if (weights.empty()) return;
  const std::size_t positions = plan.stages.front().horizon;
  if (weights.size() > positions)
    throw BadInput(where,
                   "are " + std::to_string(weights.size()) + " for the " +
                       std::to_string(positions) + " positions of the first stage",
                   "give no more weights than that, or longer blocks");
  if (weights.front() == 0)
    throw BadInput(where, "leave position 1 no weight", "begin with one above 0");
  if (*std::max_element(weights.begin(), weights.end()) > largest_restart_weight)
    throw BadInput(where, "have one above " + std::to_string(largest_restart_weight),
                   "give smaller ones in the same proportion");
}

}  // namespace tempera::gpu
