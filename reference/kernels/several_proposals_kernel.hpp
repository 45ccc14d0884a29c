#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Multiple-try Metropolis with n proposals: r ~ ω, y_1, ..., y_n ~ q_r(· | x) independently, one
/// of them chosen in proportion to w(y_i) = π(y_i) / q_r(y_i | x), and that one, y, accepted with
///   1 ∧ Σ_i w(y_i) / (Σ_i w(y_i) − w(y) + w(x)):
/// the other proposals serve the way back, which q_r allows because it looks at the kept prefix
/// alone. In detailed balance with π_α; n = 1 is the paper's L_k. It takes n times its decode
/// tokens. |S_T| x |S_T|; n >= 1.
Matrix several_proposals_kernel(const FixedHorizonSpace& space, const Power& power,
                                const RestartLaw& restart, std::size_t proposals);

}  // namespace tempera::reference
