#include "reference/kernels/several_proposals_kernel.hpp"

#include <algorithm>
#include <map>

#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"

namespace tempera::reference {
namespace {

/// The law of a sum of weights.
using SumLaw = std::map<Rational, Rational>;

SumLaw plus(const SumLaw& sum, const SumLaw& one) {
  SumLaw longer;
  for (const auto& [total, p] : sum)
    for (const auto& [weight, q] : one) longer[total + weight] += p * q;
  return longer;
}

}  // namespace

Matrix several_proposals_kernel(const FixedHorizonSpace& space, const Power& power,
                                const RestartLaw& restart, std::size_t proposals) {
  const Law target = power_target(space, power);
  const SuffixProposal proposal(space, power);
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    const std::size_t last = space[x].terminal_position().value_or(space.horizon());
    for (std::size_t r = 1; r <= last; ++r) {
      if (restart(r) == 0) continue;
      const auto weight = [&](std::size_t y) {
        return Rational(target[y] / proposal.suffix(y, r));
      };
      std::vector<std::size_t> reached;
      SumLaw one;
      for (std::size_t y = 0; y < space.size(); ++y) {
        if (y != x && r > last_shared_restart(space[x], space[y])) continue;
        reached.push_back(y);
        one[weight(y)] += proposal.suffix(y, r);
      }
      SumLaw others{{0, 1}};
      for (std::size_t i = 1; i < proposals; ++i) others = plus(others, one);
      for (const std::size_t y : reached) {
        if (y == x) continue;
        Rational taken = 0;  // the first proposal being y, that it is chosen and accepted
        for (const auto& [sum, p] : others) {
          const Rational all = sum + weight(y);
          taken += p * (weight(y) / all) * std::min(Rational(1), Rational(all / (sum + weight(x))));
        }
        kernel(x, y) += restart(r) * Rational(proposals) * proposal.suffix(y, r) * taken;
      }
    }
  }
  complete_rows_on_diagonal(kernel);
  return kernel;
}

}  // namespace tempera::reference
