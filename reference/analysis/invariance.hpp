#pragma once

#include <optional>

#include "reference/kernels/factored_kernel.hpp"

namespace tempera::reference {

/// A state whose probability one transition changes.
struct MassViolation {
  std::size_t state;
  Rational before;  ///< target(state)
  Rational after;   ///< (target P)(state)
};

/// The state with the fewest tokens, then the first in order, at which target P differs from
/// target; nothing when the target is invariant. `tokens` holds each state's size (token_counts).
std::optional<MassViolation> first_violation_of_invariance(const FactoredKernel& kernel,
                                                           const Law& target,
                                                           const std::vector<std::size_t>& tokens);

}  // namespace tempera::reference
