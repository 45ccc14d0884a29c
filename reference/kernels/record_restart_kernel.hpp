#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// The local kernel whose restart position is one of the record's own: drawn from
///   ω(r | x) = ω(r) / Σ_{s <= τ(x)} ω(s) on 1..τ(x),
/// τ of a censored record being T, with the acceptance of position and proposal together,
///   1 ∧ π(y) ω(r | y) q_r(x | y) / (π(x) ω(r | x) q_r(y | x))
/// (Section implementation-local: under the uniform law the factor is τ(x)/τ(y)). No move is spent
/// after an early end. |S_T| x |S_T|.
/// @throw BadInput if ω(1) = 0, which leaves records of one token no position
Matrix record_restart_kernel(const FixedHorizonSpace& space, const Power& power,
                             const RestartLaw& restart);

/// fixed_horizon_kernel or record_restart_kernel.
/// @throw BadInput as they do
Matrix local_kernel(const FixedHorizonSpace& space, const Power& power, const RestartLaw& restart,
                    RestartRange range);

}  // namespace tempera::reference
