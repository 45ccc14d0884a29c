#pragma once

#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// E[1 ∧ π_α(Y) π_β(X) / (π_α(X) π_β(Y))] for independent X ~ π_α, Y ~ π_β: the expected acceptance
/// of their exchange at equilibrium, a-bar(α, β) (subsec:thermodynamic-coordinate).
Rational expected_swap_acceptance(const Law& lower, const Law& upper);

/// The expected acceptance of each edge of a ladder, and its weakest link.
struct LadderDiagnosis {
  std::vector<Rational> acceptances;  ///< edges 1..K-1
  std::size_t weakest;                ///< index of the least acceptance, the first of equals
  std::size_t strongest;              ///< index of the greatest
  /// Σ_k (1 - a_k) / a_k, the R of the round-trip counts.
  Rational rejection;
  /// eq:equi-accepting-ladder.
  bool equi_accepting() const { return acceptances[weakest] == acceptances[strongest]; }
};

/// @throw BadInput if the ladder has one rung, so no edge, or a probability to a power is
/// irrational
LadderDiagnosis diagnose_ladder(const FixedHorizonSpace& space, const Ladder& ladder);

}  // namespace tempera::reference
