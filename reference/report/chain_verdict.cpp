#include "reference/report/chain_verdict.hpp"

#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/irreducibility.hpp"

namespace tempera::reference {

ChainVerdict judge(const ChainClaim& claim) {
  ChainVerdict verdict;
  if (const auto moved = first_violation_of_invariance(claim.chain, claim.target, claim.tokens))
    verdict.moved = {claim.names[moved->state], moved->before, moved->after};
  if (const auto pair =
          first_violation_of_detailed_balance(claim.chain, claim.target, claim.tokens))
    verdict.unbalanced = {claim.names[pair->x], claim.names[pair->y], pair->forward_flow,
                          pair->reverse_flow};
  verdict.irreducible = is_irreducible(claim.chain);
  return verdict;
}

}  // namespace tempera::reference
