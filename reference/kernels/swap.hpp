#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// A_k^swap(x, y) = 1 ∧ π_k(y) π_{k+1}(x) / (π_k(x) π_{k+1}(y)) for rungs k and k+1 that hold x and
/// y (eq:implementation-swap-general, eq:swap-accept-llm), n x n. Both laws must be positive
/// everywhere. For power targets the normalizing constants cancel and it is
/// 1 ∧ (p0(x) / p0(y))^{α_{k+1} - α_k} (eq:swap-acceptance-theory).
Matrix swap_acceptance(const Law& lower, const Law& upper);

/// The exchange of the truncating sampler, which knows only the scores of the tokens that each
/// record has: 1 ∧ (p0(x) / p0(y))^{α_{k+1} - α_k} (eq:stage-swap), n x n.
Matrix truncating_swap_acceptance(const ComparisonSpace& space, const Power& lower,
                                  const Power& upper);

}  // namespace tempera::reference
