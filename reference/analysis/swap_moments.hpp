#pragma once

#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// The energies U(x) = -log p0(x) in units of log b, if every p0(x) is a power b^-U(x).
/// @throw BadInput if some p0(x) is none: its logarithm is then irrational in that unit
std::vector<Rational> energies(const FixedHorizonSpace& space, unsigned base);

/// Mean and variance of a quantity under a law.
struct Moments {
  Rational mean, variance;
};
Moments moments(const Law& law, const std::vector<Rational>& values);

/// Moments of the swap log ratio G = (β - α)(U(X_β) - U(X_α)), with X_α, X_β independent at their
/// targets:
/// mean (β - α)(E_β U - E_α U) = -(β - α) ∫_α^β σ²(s) ds and variance
/// (β - α)²(σ²(α) + σ²(β)) (eq:swap-log-ratio-moments), in the units of the energies. For β = α + δ
/// they are -d² and 2d², d = σ(α) δ, up to O(δ³) (eq:local-swap-moments).
/// @throw BadInput if a probability to a power is irrational
Moments swap_log_ratio_moments(const FixedHorizonSpace& space, const Power& lower,
                               const Power& upper, const std::vector<Rational>& energies);

}  // namespace tempera::reference
