#include "reference/kernels/tokenwise_law.hpp"

#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {

Law tokenwise_law(const FixedHorizonSpace& space, const Power& power) {
  Law law(space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    const std::span tokens(space[x].tokens);
    law[x] = 1;
    for (std::size_t t = 0; t < tokens.size(); ++t)
      law[x] *= token_proposal(space.model().token_row(tokens.first(t)), power)[tokens[t]];
  }
  return law;
}

Rational expected_length(const FixedHorizonSpace& space, const Law& law) {
  Rational sum = 0;
  for (std::size_t x = 0; x < space.size(); ++x) sum += law[x] * Rational(space[x].length());
  return sum;
}

}  // namespace tempera::reference
