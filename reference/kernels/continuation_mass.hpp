#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::reference {

/// H_{α,t}(v | h) = Σ over continuations u of p0(u | h, v)^α up to the horizon, 0 if
/// p0(v | h) = 0 (eq:theory-continuation-mass). `history` is open and supported, |history| = t - 1.
Rational continuation_mass(const FixedHorizonSpace& space, const Power& power,
                           std::span<const Token> history, Token token);

/// π_{α,T}(v | h) = p0(v | h)^α H(v | h) / Σ_u p0(u | h)^α H(u | h) for every token v
/// (eq:theory-power-conditional). It is g_α(v | h) only if H does not depend on v
/// (ps-vs-lowtemp).
TokenRow power_conditional(const FixedHorizonSpace& space, const Power& power,
                           std::span<const Token> history);

}  // namespace tempera::reference
