#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "reference/analysis/spectral_gap.hpp"
#include "reference/kernels/factored_kernel.hpp"

namespace tempera::reference {

/// The most steps that mixing_time takes: twenty squares of the kernel.
inline constexpr std::size_t mixing_steps_limit = std::size_t{1} << 20U;

/// t_mix(ε) and what is around it.
struct MixingTime {
  std::size_t steps;  ///< the least N with max_x TV(δ_x P^N, π) <= ε
  /// A state that is furthest from π one step before (at N = 0, then), as far as `before` tells:
  /// its distance is between these ends too.
  std::size_t worst_start;
  Bracket before, after;  ///< max_x TV after steps - 1 and after steps; equal if steps is 0
};

/// t_mix(ε) = min {N : max_x TV(δ_x P^N, π) <= ε} of a chain that preserves π. Powers of P are
/// computed in doubles with a bound of their error, up to log2 N squares and less than as many
/// products of fewer rows, 8 n² bytes for each square; a comparison with ε that the bound leaves
/// open is decided by whole numbers of 256 bits more than ε has, and a tie by rationals. Nothing if
/// mixing_steps_limit steps do not suffice, as for a chain that is periodic or not irreducible.
/// `progress` hears of each square and product.
/// @pre 0 <= within < 1
/// @throw BadInput if the distance is closer to ε than doubles can tell, and the others would take
/// more than about half a minute
std::optional<MixingTime> mixing_time(
    const FactoredKernel& chain, const Law& target, const Rational& within,
    const std::function<void(const std::string&)>& progress = [](const std::string&) {});

}  // namespace tempera::reference
