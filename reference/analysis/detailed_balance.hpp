#pragma once

#include <optional>

#include "reference/kernels/factored_kernel.hpp"

namespace tempera::reference {

/// Two states between which the flows of a chain at its target differ.
struct StatePair {
  std::size_t x, y;       ///< x < y
  Rational forward_flow;  ///< target(x) P(x, y)
  Rational reverse_flow;  ///< target(y) P(y, x)
};

/// The pair of states with the fewest tokens together, then the first in order of (x, y), whose
/// flows target(x) P(x, y) and target(y) P(y, x) differ; nothing when the kernel is reversible.
/// Rows are computed only as they are reached, so a violation between small states is found without
/// the joint matrix. `tokens` holds each state's size (token_counts).
std::optional<StatePair> first_violation_of_detailed_balance(
    const FactoredKernel& kernel, const Law& target, const std::vector<std::size_t>& tokens);

}  // namespace tempera::reference
