#pragma once

#include "reference/kernels/decode_tokens.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Where the second stage of a delayed rejection regenerates from.
enum class SecondRestart {
  same,  ///< the position of the first stage
  later  ///< a position uniform over those after it, through T; none follows T
};

/// Two-stage delayed rejection (Tierney and Mira): r ~ ω, y ~ q_r(· | x), accepted with
/// a(x, y) = 1 ∧ π(y) q_r(x|y) / (π(x) q_r(y|x)); if it is rejected, s is drawn from the second
/// stage's positions and z ~ q_s(· | x), accepted with
///   1 ∧ π(z) q_r(y|z) [1 − a(z, y)] q_s(x|z) / (π(x) q_r(y|x) [1 − a(x, y)] q_s(z|x)),
/// so that each path x, y, z has the flow of its reverse z, y, x. In detailed balance with π_α.
/// |S_T| x |S_T|.
Matrix delayed_rejection_kernel(const FixedHorizonSpace& space, const Power& power,
                                const RestartLaw& restart, SecondRestart second);

/// Expected decode tokens of such a move from each record: the second stage's come if the first
/// is rejected.
std::vector<Rational> delayed_rejection_tokens(const FixedHorizonSpace& space, const Power& power,
                                               const RestartLaw& restart, SecondRestart second);

}  // namespace tempera::reference
