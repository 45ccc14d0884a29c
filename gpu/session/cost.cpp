#include "gpu/session/cost.hpp"

#include "base/error.hpp"

namespace tempera::gpu {
namespace {

double number(std::size_t count) { return static_cast<double>(count); }

double swaps_of_round(const Stage& stage, std::size_t replicas) {
  return number(stage.sweeps) * number(replicas - 1);
}

}  // namespace

double cost_of(const Plan& plan, std::size_t replicas) {
  double cost = 0.0;
  std::size_t extended = 0;
  for (const Stage& stage : plan.stages) {
    const double moves = number(replicas) * number(stage.local_moves);
    cost += number(replicas) * number(stage.horizon - extended);
    cost +=
        number(stage.rounds) * (moves * number(stage.horizon) + swaps_of_round(stage, replicas));
    extended = stage.horizon;
  }
  return cost;
}

void require_affordable(const Plan& plan, std::size_t replicas) {
  for (const Stage& stage : plan.stages) {
    if (stage.rounds == 0) continue;
    const double moves = number(replicas) * number(stage.local_moves);
    if (moves + swaps_of_round(stage, replicas) > number(most_moves_of_a_round))
      throw BadInput("local moves and sweeps", "a round makes more than 2^20 moves and swaps",
                     "give more rounds with fewer of them, or fewer powers");
  }
  if (cost_of(plan, replicas) > most_cost)
    throw BadInput("the cost", "an answer can take more than 2^40 tokens and swaps",
                   "lower the rounds, the local moves, the powers or the horizon");
}

}  // namespace tempera::gpu
