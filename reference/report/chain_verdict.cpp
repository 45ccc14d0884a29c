#include "reference/report/chain_verdict.hpp"

#include <algorithm>
#include <map>

#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/irreducibility.hpp"

namespace tempera::reference {
namespace {

using StatesOfSize = std::map<std::size_t, std::vector<std::size_t>>;

/// The first pair with `together` tokens whose flows differ.
std::optional<ChainVerdict::Unbalanced> first_unbalanced(const CarriedTruncating& chain,
                                                         const Law& target,
                                                         const StatesOfSize& states,
                                                         std::size_t together) {
  const auto flow = [&](std::size_t x, std::size_t y) {
    return target[x] == 0 ? Rational(0) : Rational(target[x] * chain.probability(x, y));
  };
  std::optional<std::pair<std::size_t, std::size_t>> first;
  for (const auto& [size, of_size] : states) {
    const auto others = size > together ? states.end() : states.find(together - size);
    if (others == states.end()) continue;
    for (const std::size_t x : of_size)
      for (const std::size_t y : others->second)
        if (x < y && (!first || std::pair(x, y) < *first) && flow(x, y) != flow(y, x))
          first = {x, y};
  }
  if (!first) return std::nullopt;
  const auto [x, y] = *first;
  return ChainVerdict::Unbalanced{chain.space().name(x), chain.space().name(y), flow(x, y),
                                  flow(y, x)};
}

}  // namespace

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

ChainVerdict judge(const CarriedTruncating& chain, const Law& target) {
  const ComparisonSpace& space = chain.space();
  ChainVerdict verdict;
  const Law after = chain.apply(target);
  StatesOfSize states;
  for (std::size_t x = 0; x < space.size(); ++x) states[space[x].length()].push_back(x);
  for (const auto& [size, of_size] : states)
    for (const std::size_t x : of_size)
      if (!verdict.moved && after[x] != target[x])
        verdict.moved = {space.name(x), target[x], after[x]};
  // Two records of S_T of one length are balanced: w(y) / w(x) is the Metropolis-Hastings ratio.
  // So a chain with records of S_T of one length alone is reversible, as no open record of another
  // length is proposed from them; any other has a pair, and the smallest is looked for.
  const auto has_mass = [&](std::size_t x) { return target[x] != 0; };
  std::size_t lengths = 0;
  for (const auto& [size, of_size] : states)
    lengths += std::any_of(of_size.begin(), of_size.end(), has_mass) ? 1 : 0;
  if (lengths > 1)
    for (std::size_t together = 0; !verdict.unbalanced && together <= 2 * states.rbegin()->first;
         ++together)
      verdict.unbalanced = first_unbalanced(chain, target, states, together);
  // No step makes a record longer; within a length every record is proposed, from position 1.
  verdict.irreducible = states.size() == 1;
  return verdict;
}

}  // namespace tempera::reference
