#include "runs/deal.hpp"

#include <algorithm>
#include <numeric>

#include "tests/runs/shard_runs.hpp"

namespace tempera::gpu::deal_test {

TEST_CASE("runs are dealt by the tokens that each is expected to take") {
  // A prompt of its own horizon 3 among four of 5, and one of many tokens: by number alone, shards
  // would differ by more than the dearest run.
  SamplingSettings settings = dealt_settings();
  settings.prompts = {{"a", {1}, 1}, {"b", {1}, 1}, {"c", {1}}, {"d", std::vector<TokenId>(60, 1)}};
  settings.samples = 2;
  const std::vector<double> costs = expected_tokens_of_runs(settings);
  REQUIRE(costs.size() == 8);
  const PromptPlans plans(settings.draw_settings().plan, settings.numbered_prompts());
  const std::vector<Prompt> prompts = settings.numbered_prompts();
  for (std::size_t run_index = 0; run_index < 8; ++run_index) {
    const Prompt& prompt = prompts[run_index / 2];
    CHECK(costs[run_index] == expected_tokens(plans.of(prompt), 2, prompt.tokens.size(), 2));
  }
  CHECK(costs[0] < costs[4]);
  CHECK(costs[4] < costs[6]);
  std::vector<double> loads;
  std::vector<std::size_t> all;
  for (std::size_t shard = 1; shard <= 3; ++shard) {
    const std::vector<std::size_t> runs = dealt_runs(settings, shard, 3);
    CHECK(std::is_sorted(runs.begin(), runs.end()));
    loads.push_back(std::accumulate(runs.begin(), runs.end(), 0.0,
                                    [&](double sum, std::size_t i) { return sum + costs[i]; }));
    all.insert(all.end(), runs.begin(), runs.end());
  }
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  CHECK(*most - *least < costs[0]);  // and by number alone more than eight of these
  std::sort(all.begin(), all.end());
  std::vector<std::size_t> every(8);
  std::iota(every.begin(), every.end(), std::size_t{0});
  CHECK(all == every);
  // By hand: 6 and 7 cost 54 each, 4 and 5 cost 24.5, the others 6.5.
  CHECK(dealt_runs(settings, 1, 3) == std::vector<std::size_t>{1, 6});
  CHECK(dealt_runs(settings, 2, 3) == std::vector<std::size_t>{2, 7});
  CHECK(dealt_runs(settings, 3, 3) == std::vector<std::size_t>{0, 3, 4, 5});
}

}  // namespace tempera::gpu::deal_test
