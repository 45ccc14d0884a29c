// Every number of a request is bounded by what it costs: the last that is taken, the first that is
// refused.
#include "gpu/session/cost.hpp"

#include "base/error.hpp"
#include "settings/resolve.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu::cost_test {
namespace {

/// The cost by its definition, token for token and swap for swap.
double naive_cost(const Plan& plan, std::size_t replicas) {
  double cost = 0.0;
  std::size_t length = 0;
  for (const Stage& stage : plan.stages) {
    for (; length < stage.horizon; ++length) cost += static_cast<double>(replicas);
    for (std::size_t round = 0; round < stage.rounds; ++round) {
      for (std::size_t k = 0; k < replicas; ++k)
        for (std::size_t move = 0; move < stage.local_moves; ++move)
          cost += static_cast<double>(stage.horizon);
      for (std::size_t sweep = 0; sweep < stage.sweeps; ++sweep)
        for (std::size_t k = 0; k + 1 < replicas; ++k) cost += 1.0;
    }
  }
  return cost;
}

SamplerWish of_round(std::size_t local_moves, std::size_t sweeps, std::size_t rungs) {
  SamplerWish wish;
  wish.horizon = 4;
  wish.block = 4;
  wish.rounds = std::vector<std::size_t>{1};
  wish.local_moves = std::vector<std::size_t>{local_moves};
  wish.sweeps = std::vector<std::size_t>{sweeps};
  std::vector<double> powers;
  for (std::size_t k = 0; k < rungs; ++k) powers.push_back(1.0 + static_cast<double>(k));
  wish.powers = powers;
  return wish;
}

}  // namespace

TEST_CASE("the cost of a plan counts its tokens and swaps", "[session]") {
  const std::vector<Plan> plans{
      {make_stages(10, 4, {2, 0, 3}, {1, 5, 2}, {3, 1, 0})},
      {make_stages(7, 7, {1}, {0}, {4})},
      {make_stages(1, 1, {0}, {1}, {1})},
  };
  for (const Plan& plan : plans)
    for (const std::size_t replicas : {1, 2, 5})
      CHECK(cost_of(plan, replicas) == naive_cost(plan, replicas));
}

TEST_CASE("a round takes 2^20 moves and swaps and not one more", "[session]") {
  constexpr std::size_t most = most_moves_of_a_round;
  CHECK_NOTHROW(resolve_sampler(of_round(most, 0, 1)));
  CHECK_NOTHROW(resolve_sampler(of_round(most / 2, 0, 2)));
  CHECK_NOTHROW(resolve_sampler(of_round(0, most / 4, 5)));
  CHECK_NOTHROW(resolve_sampler(of_round(100, most - 200, 2)));
  for (const auto& wish : {of_round(most + 1, 0, 1), of_round(most / 2 + 1, 0, 2),
                           of_round(0, most / 4 + 1, 5), of_round(100, most - 199, 2)})
    require_bad_input([&] { resolve_sampler(wish); },
                      {"moves and swaps", "2^20", "give more rounds"});
  // A stage without rounds makes none.
  SamplerWish none = of_round(most + 1, 0, 1);
  none.rounds = std::vector<std::size_t>{0};
  CHECK_NOTHROW(resolve_sampler(none));
}

TEST_CASE("an answer takes 2^40 tokens and not one more", "[session]") {
  // 2^15 records of two tokens each, then 2^24 - 1 rounds of moves: 2^40 tokens in all.
  SamplerWish wish = of_round(1, 0, std::size_t{1} << 15);
  wish.horizon = 2;
  wish.block = 2;
  wish.rounds = std::vector<std::size_t>{(std::size_t{1} << 24) - 1};
  CHECK(cost_of(resolve_sampler(wish).plan(), std::size_t{1} << 15) == most_cost);
  wish.rounds = std::vector<std::size_t>{std::size_t{1} << 24};
  require_bad_input([&] { resolve_sampler(wish); }, {"2^40", "lower the rounds"});
}

TEST_CASE("as many moves begin ahead as the largest batch has rows, and not one more",
          "[session]") {
  SamplerWish wish = of_round(2, 0, 2);
  wish.options.prefetch = most_prefetch;
  CHECK(resolve_sampler(wish).options.prefetch == 4096);
  wish.options.prefetch = most_prefetch + 1;
  require_bad_input([&] { resolve_sampler(wish); }, {"prefetch", "4097", "give at most 4096"});
  require_bad_input([&] { resolve_sampler(wish, Spelling::flags); }, {"--prefetch", "4097"});
  wish.options.prefetch = std::size_t{1} << 40;
  require_bad_input([&] { resolve_sampler(wish); }, {"prefetch", "1099511627776"});
}

}  // namespace tempera::gpu::cost_test
