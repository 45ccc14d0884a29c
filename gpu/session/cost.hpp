#pragma once

#include <cstddef>

#include "gpu/core/sampler/stages.hpp"

namespace tempera::gpu {

/// The most moves of a rung that may begin ahead: as many rows as the largest batch has.
inline constexpr std::size_t most_prefetch = 4096;
/// The most local moves and swaps that one round may make, of all replicas together: they are kept
/// until the round ends.
inline constexpr std::size_t most_moves_of_a_round = std::size_t{1} << 20;
/// The most tokens and swaps that one answer, or all answers of a server's request, may take: at
/// 100,000 a second they take four months.
inline constexpr double most_cost = 1099511627776.0;  // 2^40

/// The most tokens and swaps that one run of the plan can take.
double cost_of(const Plan& plan, std::size_t replicas);

/// @throw BadInput for a plan that costs more than most_cost, or that has a round of more than
/// most_moves_of_a_round
void require_affordable(const Plan& plan, std::size_t replicas);

}  // namespace tempera::gpu
