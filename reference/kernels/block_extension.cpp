#include "reference/kernels/block_extension.hpp"

#include <algorithm>

#include "reference/kernels/suffix_proposal.hpp"

namespace tempera::reference {

Matrix block_extension(const FixedHorizonSpace& shorter, const FixedHorizonSpace& longer,
                       const Power& power) {
  const SuffixProposal proposal(longer, power);
  Matrix extension(shorter.size(), longer.size());
  for (std::size_t y = 0; y < longer.size(); ++y) {
    const auto& tokens = longer[y].tokens;
    const auto kept = std::span(tokens).first(std::min(tokens.size(), shorter.horizon()));
    // eq:implementation-extension: t = T_{m-1}+1, ..., T_m
    extension(*shorter.find(kept), y) = proposal.suffix(y, shorter.horizon() + 1);
  }
  return extension;
}

}  // namespace tempera::reference
