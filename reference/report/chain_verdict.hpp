#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/kernels/carried_truncating.hpp"
#include "reference/kernels/factored_kernel.hpp"

namespace tempera::reference {

/// A chain, the law that it is claimed to preserve, and how its states are called and sized.
struct ChainClaim {
  const FactoredKernel& chain;
  const Law& target;
  const std::vector<std::string>& names;   ///< of the chain's states
  const std::vector<std::size_t>& tokens;  ///< generated tokens of each state (token_counts)
};

/// What can be said of such a claim, with the smallest state that breaks it if one does.
struct ChainVerdict {
  /// A state whose mass one step from the target changes.
  struct Moved {
    std::string state;
    Rational before, after;
  };
  /// Two states between which the flows at the target differ.
  struct Unbalanced {
    std::string from, to;
    Rational forward_flow, reverse_flow;
  };

  std::optional<Moved> moved;            ///< nothing if the target is invariant
  std::optional<Unbalanced> unbalanced;  ///< nothing if the chain is reversible
  bool irreducible = false;

  bool invariant() const { return !moved; }
  bool reversible() const { return !unbalanced; }
};

/// Judges the claim: invariance, detailed balance, irreducibility, each exactly.
ChainVerdict judge(const ChainClaim& claim);

/// The same of P̃ and `target`, π_α on its comparison space, without a matrix.
ChainVerdict judge(const CarriedTruncating& chain, const Law& target);

}  // namespace tempera::reference
