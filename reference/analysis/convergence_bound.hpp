#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::reference {

/// ε_k = ω(1) min_y q^full(y) / π_k(y): the weight of the target inside every row of L_k
/// (thm:fixed-horizon-convergence). In [0, 1], positive when ω(1) is.
Rational full_restart_weight(const FixedHorizonSpace& space, const Power& power,
                             const RestartLaw& restart);

/// ε = Π_k ε_k for the ladder's rungs.
Rational full_restart_weight(const FixedHorizonSpace& space, const Ladder& ladder,
                             const RestartLaw& restart);

/// (1 - ε)^N TV(μ_0, Π) (eq:theory-fixed-horizon-convergence).
Rational convergence_bound(const Rational& epsilon, unsigned rounds, const Rational& initial_tv);

}  // namespace tempera::reference
