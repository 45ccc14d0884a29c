#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::reference {

/// z_α(h) = Σ_v p0(v | h)^α of the row at an open history h (eq:theory-token-normalizer). After a
/// terminal token z is 1, whose logarithm is ζ = 0 (eq:implementation-token-normalizers).
/// @throw BadInput if a probability to the power is irrational
Rational token_normalizer(const TokenRow& row, const Power& power);

/// g_α(v | h) = p0(v | h)^α / z_α(h) (eq:theory-tokenwise-proposal, eq:proposal).
/// @throw BadInput as token_normalizer
TokenRow token_proposal(const TokenRow& row, const Power& power);

}  // namespace tempera::reference
