#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "reference/kernels/ladder.hpp"

namespace tempera::reference {

/// How the spread σ(α) of the energy U = -log p0 under π_α depends on the power, up to a factor
/// (cor:arithmetic-geometric-ladders, cor:geometric-power-ladder, rem:ar_geom_seq).
enum class Spread {
  constant,          ///< σ(α) = σ_0
  inverse_to_power,  ///< σ(α) = √c / α
};

/// A rational that grows strictly with the thermodynamic distance d(α, β) = ∫_α^β σ(s) ds, α < β,
/// and is the same for equal distances: β - α if the spread is constant, for then d is σ_0 times
/// it, and β / α if it is inverse to the power, for then d is √c times its logarithm.
Rational thermodynamic_gap(Spread spread, const Power& lower, const Power& upper);

/// The K powers from `lowest` to `highest` whose neighbours have equal thermodynamic distances
/// (eq:equal-thermodynamic-distance, eq:arithmetic-geometric-ladders): arithmetic,
/// α_k = α_1 + (k-1)/(K-1) (α_K - α_1), or geometric, α_k = α_1 (α_K / α_1)^{(k-1)/(K-1)}.
/// @throw BadInput if K < 2, the powers do not increase, or a geometric power is irrational
Ladder equal_distance_ladder(Spread spread, const Power& lowest, const Power& highest,
                             std::size_t rungs);

/// How well rungs at two powers, the lower first, exchange: their acceptance or anything that
/// orders pairs as it does. The Gaussian surrogate's 2Φ(-d/√2) falls strictly with d, so minus the
/// thermodynamic_gap orders as it does.
using EdgeQuality = std::function<Rational(const Power& lower, const Power& upper)>;

/// A solution of the max-min problem.
struct MaximinLadder {
  Ladder ladder;          ///< the first solution in order of its powers, from the highest down
  Rational weakest;       ///< the quality of its weakest edge
  std::size_t solutions;  ///< how many ladders have a weakest edge of that quality
};

/// max over ladders of K rungs between the first and last candidate, other rungs among the
/// candidates between them, of min_k quality(α_k, α_{k+1}): eq:maximin-ladder-problem with its
/// powers from a finite set, solved exactly. With thermodynamic_gap and the equally distant powers
/// among the candidates its one solution is those (thm:unique-maximin-ladder); with the exact
/// expected_swap_acceptance of a model it is the best ladder that the candidates allow.
/// @throw BadInput if the candidates do not increase strictly or are fewer than K, or K < 2
MaximinLadder maximin_ladder(const std::vector<Power>& candidates, std::size_t rungs,
                             const EdgeQuality& quality);

}  // namespace tempera::reference
