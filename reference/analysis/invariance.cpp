#include "reference/analysis/invariance.hpp"

namespace tempera::reference {

std::optional<MassViolation> first_violation_of_invariance(const FactoredKernel& kernel,
                                                           const Law& target,
                                                           const std::vector<std::size_t>& tokens) {
  const Law after = kernel.apply(target);
  std::optional<std::size_t> first;
  for (std::size_t x = 0; x < target.size(); ++x) {
    if (after[x] != target[x] && (!first || tokens[x] < tokens[*first])) first = x;
  }
  if (!first) return std::nullopt;
  return MassViolation{*first, target[*first], after[*first]};
}

}  // namespace tempera::reference
