#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::reference {

/// π(y) q_r(x|y) / (π(x) q_r(y|x)) from the normalizers along the two records alone:
/// Π_{t=r}^{T} z_α(y_{<t}) / z_α(x_{<t}), padding contributing 1; its logarithm is
/// Σ_t [ζ_t(y) - ζ_t(x)] (eq:implementation-local-cached-ratio). The records share what is before
/// r.
/// @throw BadInput if a probability to the power is irrational
Rational cached_ratio(const RecordSpace& space, const Power& power, std::size_t x, std::size_t y,
                      std::size_t r);

}  // namespace tempera::reference
