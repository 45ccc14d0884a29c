#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Π_t g_α(x_t | x_<t) for x in S_T: the law of low-temperature sampling at temperature 1/α, of
/// standard sampling at α = 1 (eq:proposal).
/// @throw BadInput if a probability to the power is irrational
Law tokenwise_law(const FixedHorizonSpace& space, const Power& power);

/// Σ_x law(x) len(x): the decode tokens that drawing one record takes.
Rational expected_length(const FixedHorizonSpace& space, const Law& law);

}  // namespace tempera::reference
