#pragma once

#include <optional>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/numbers/interval.hpp"

namespace tempera::reference {

/// ESS = 1 / Σ w_i² of the normalised weights w_i (sec:hyperparameter-configuration): from 1, one
/// particle has all the weight, to N, all have the same. Some weight must be positive, none
/// negative.
Rational effective_sample_size(const std::vector<Rational>& weights);

/// Var_q[p0(v | h)^α / q(v)]: of PowerSMC's incremental weight under the proposal q, which must be
/// positive if the row is.
/// @throw BadInput if a probability to the power is irrational
Rational incremental_weight_variance(const TokenRow& row, const Power& power,
                                     const TokenRow& proposal);

/// Σ_v p0(v | h) log p0(v | h) of a row: the negative next-token entropy, of which the confidence
/// C(x) is the mean over a completion's positions.
Interval negative_entropy(const TokenRow& row, long bits);

/// The answer that most traces give and, of those that as many give, the one whose traces have the
/// greatest cumulative log-likelihood, so the greatest product of likelihoods
/// (apx:compute-matched); nothing if that leaves two. One answer and one likelihood > 0 for each
/// trace, at least one.
std::optional<std::size_t> majority_answer(const std::vector<std::size_t>& answers,
                                           const std::vector<Rational>& likelihoods);

}  // namespace tempera::reference
