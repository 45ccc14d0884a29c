#include "runs/deal.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "base/error.hpp"
#include "gpu/session/prompt_plans.hpp"
#include "runs/run_folder.hpp"

namespace tempera::gpu {

void ListedRuns::begin(std::span<const std::size_t> delivered,
                       std::span<const std::size_t> under_way, const std::string& folder) {
  const bool is_beginning = delivered.size() <= runs_.size() &&
                            std::equal(delivered.begin(), delivered.end(), runs_.begin());
  next_ = delivered.size();
  const bool are_to_come =
      is_beginning && std::all_of(under_way.begin(), under_way.end(), [&](std::size_t run_index) {
        return std::binary_search(runs_.begin() + static_cast<std::ptrdiff_t>(next_), runs_.end(),
                                  run_index);
      });
  if (!are_to_come)
    throw BadInput(folder, "holds answers that this shard was not dealt",
                   remedy_for(std::filesystem::path(folder) / "parts.jsonl"));
}

std::optional<std::size_t> ListedRuns::next() {
  return next_ < runs_.size() ? std::optional(runs_[next_++]) : std::nullopt;
}

double expected_tokens(const Plan& plan, std::size_t replicas, std::size_t prompt_tokens,
                       std::size_t samples) {
  double tokens = 0.0;
  std::size_t before = 0;
  for (const Stage& stage : plan.stages) {
    const double moves = static_cast<double>(stage.rounds) * static_cast<double>(stage.local_moves);
    tokens += static_cast<double>(stage.horizon - before) +
              moves * (static_cast<double>(stage.horizon) + 1.0) / 2.0;
    before = stage.horizon;
  }
  return static_cast<double>(replicas) * tokens +
         static_cast<double>(prompt_tokens) / static_cast<double>(samples);
}

std::vector<std::size_t> deal_by_cost(std::span<const double> costs, std::size_t shards) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  using Load = std::pair<double, std::size_t>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::size_t shard = 0; shard < shards; ++shard) least.emplace(0.0, shard);
  std::vector<std::size_t> shard_of(costs.size());
  for (const std::size_t run_index : order) {
    const auto [load, shard] = least.top();
    least.pop();
    shard_of[run_index] = shard;
    least.emplace(load + costs[run_index], shard);
  }
  return shard_of;
}

std::vector<double> expected_tokens_of_runs(const SamplingSettings& settings) {
  const DrawSettings draw = settings.draw_settings();
  const std::vector<Prompt> prompts = settings.numbered_prompts();
  const PromptPlans plans(draw.plan, prompts);
  std::vector<double> costs;
  costs.reserve(prompts.size() * settings.samples);
  for (const Prompt& prompt : prompts) {
    const Plan& plan = plans.of(prompt);
    const double cost =
        expected_tokens(plan, plan.replicas(draw.ladder), prompt.tokens.size(), settings.samples);
    costs.insert(costs.end(), settings.samples, cost);
  }
  return costs;
}

std::vector<std::size_t> dealt_runs(const SamplingSettings& settings, std::size_t shard,
                                    std::size_t shards) {
  const std::vector<std::size_t> shard_of = deal_by_cost(expected_tokens_of_runs(settings), shards);
  std::vector<std::size_t> runs;
  for (std::size_t run_index = 0; run_index < shard_of.size(); ++run_index)
    if (shard_of[run_index] + 1 == shard) runs.push_back(run_index);
  return runs;
}

}  // namespace tempera::gpu
