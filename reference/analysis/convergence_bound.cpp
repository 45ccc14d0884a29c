#include "reference/analysis/convergence_bound.hpp"

#include <algorithm>

#include "reference/kernels/power_target.hpp"
#include "reference/kernels/suffix_proposal.hpp"

namespace tempera::reference {

Rational full_restart_weight(const FixedHorizonSpace& space, const Power& power,
                             const RestartLaw& restart) {
  const Law target = power_target(space, power);
  const SuffixProposal proposal(space, power);
  Rational least = proposal.suffix(0, 1) / target[0];
  for (std::size_t y = 1; y < space.size(); ++y) {
    least = std::min(least, Rational(proposal.suffix(y, 1) / target[y]));
  }
  return restart(1) * least;
}

Rational full_restart_weight(const FixedHorizonSpace& space, const Ladder& ladder,
                             const RestartLaw& restart) {
  Rational weight = 1;
  for (std::size_t k = 0; k < ladder.rungs(); ++k) {
    weight *= full_restart_weight(space, ladder[k], restart);
  }
  return weight;
}

Rational convergence_bound(const Rational& epsilon, unsigned rounds, const Rational& initial_tv) {
  return integer_power(1 - epsilon, rounds) * initial_tv;
}

}  // namespace tempera::reference
