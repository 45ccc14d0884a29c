#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// q(y | x) of the proposal that regenerates only through the current length: a restart uniform on
/// 1..len(x), then tokens of g_α until a terminal one or len(x) (sec:fixed-horizon).
reference::Rational truncated_proposal(const reference::ComparisonSpace& space,
                                       const reference::Power& power, std::size_t x, std::size_t y);

/// The exact Metropolis-Hastings kernel of these proposals for the power target extended by zero,
/// one acceptance for each restart position: a move whose reverse cannot be proposed is rejected.
reference::Matrix truncated_metropolis(const reference::ComparisonSpace& space,
                                       const reference::Power& power);

/// The kernel whose restart position is uniform on 1..len(x), its acceptance ratio times
/// τ(x)/τ(y), if τ of a record without a terminal token counts as `censored`
/// (subsec:implementation-local).
reference::Matrix restart_through_tau(const reference::FixedHorizonSpace& space,
                                      const reference::Power& power, std::size_t censored);

}  // namespace tempera::lab
