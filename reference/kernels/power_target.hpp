#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// p0(x) for x in S_T (eq:record-prob).
Law base_law(const FixedHorizonSpace& space);
/// p0 extended by zero to records that are open before the horizon.
Law base_law(const ComparisonSpace& space);

/// π_{α,T}(x) = p0(x)^α / Z, Z = Σ_x p0(x)^α over S_T (eq:theory-power-target, eq:pi-alpha).
/// @throw BadInput if a probability to the power is irrational
Law power_target(const FixedHorizonSpace& space, const Power& power);
/// π_{α,T} extended by zero.
Law power_target(const ComparisonSpace& space, const Power& power);

}  // namespace tempera::reference
