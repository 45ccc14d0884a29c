#pragma once

#include <cstddef>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// The outcomes of one proposal of exact rejection, exactly.
struct ProposalLaw {
  /// On S_T: the probability of being kept as x, which is p0(x)^α; sums to Z_α.
  Law kept;
  /// [T + 1]: the probability of dying when t tokens are drawn; 0 at t = 1.
  std::vector<Rational> died;
  Rational tokens;  ///< expected tokens
};

/// One proposal: from the empty record, while it is open, x_t ~ g_α(· | x_<t), and death with
/// probability 1 − z_α(x_<t), z_α(x_<t) = Σ_v p0(v | x_<t)^α: before the first token is drawn, and
/// after each later one, which the pass that shows z_α has drawn.
/// @throw BadInput if α < 1, where z_α can exceed 1, or a probability to the power is irrational
ProposalLaw proposal_law(const FixedHorizonSpace& space, const Power& power);

/// Exact rejection with a limit on its tokens, exactly.
struct RejectionLaw {
  Law answer;       ///< on S_T, given that there is an answer
  Rational drawn;   ///< the probability that there is one
  Rational tokens;  ///< expected tokens, of runs without an answer too
};

/// Proposals, each begun while the tokens of those before it leave T of `most_tokens`, until one is
/// kept. One that dies before its first token takes one of `most_tokens`, too.
/// @throw BadInput as proposal_law, and if most_tokens < T
RejectionLaw rejection_law(const FixedHorizonSpace& space, const Power& power,
                           std::size_t most_tokens);

}  // namespace tempera::reference
