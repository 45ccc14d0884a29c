#pragma once

#include <cstddef>
#include <optional>

#include "reference/analysis/spectral_gap.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// The most states, and the most steps, that mixing_time takes: about a second a product of two
/// matrices, and some forty of them.
inline constexpr std::size_t mixing_states_limit = 1024;
inline constexpr std::size_t mixing_steps_limit = std::size_t{1} << 20U;

/// t_mix(ε) and what is around it.
struct MixingTime {
  std::size_t steps;        ///< the least N with max_x TV(δ_x P^N, π) <= ε
  std::size_t worst_start;  ///< a state that is furthest from π one step before (at N = 0, then)
  Bracket before, after;    ///< max_x TV after steps - 1 and after steps; equal if steps is 0
};

/// t_mix(ε) = min {N : max_x TV(δ_x P^N, π) <= ε} of a kernel that preserves π, n x n with n up to
/// mixing_states_limit. Powers of P are computed in binary floating point with a bound of their
/// error; a comparison with ε that the bound leaves open is decided by rationals. Nothing if
/// mixing_steps_limit steps do not suffice, as for a chain that is periodic or not irreducible.
/// @pre 0 <= within < 1
std::optional<MixingTime> mixing_time(const Matrix& kernel, const Law& target,
                                      const Rational& within);

}  // namespace tempera::reference
