#include "reference/kernels/continuation_mass.hpp"

#include <algorithm>

namespace tempera::reference {

// eq:theory-continuation-mass
Rational continuation_mass(const FixedHorizonSpace& space, const Power& power,
                           std::span<const Token> history, Token token) {
  std::vector<Token> prefix(history.begin(), history.end());
  prefix.push_back(token);
  Rational prefix_likelihood = 1;
  for (std::size_t t = 0; t < prefix.size(); ++t) {
    prefix_likelihood *= space.model().token_row(std::span(prefix).first(t))[prefix[t]];
  }
  Rational mass = 0;
  for (std::size_t x = 0; x < space.size(); ++x) {
    const auto& tokens = space[x].tokens;
    if (tokens.size() >= prefix.size() &&
        std::equal(prefix.begin(), prefix.end(), tokens.begin())) {
      mass += power.raise(space.likelihood(x) / prefix_likelihood);
    }
  }
  return mass;
}

// eq:theory-power-conditional
TokenRow power_conditional(const FixedHorizonSpace& space, const Power& power,
                           std::span<const Token> history) {
  const TokenRow& row = space.model().token_row(history);
  TokenRow conditional;
  Rational normalizer = 0;
  for (Token token = 0; token < row.size(); ++token) {
    conditional.push_back(power.raise(row[token]) *
                          continuation_mass(space, power, history, token));
    normalizer += conditional.back();
  }
  for (Rational& probability : conditional) probability /= normalizer;
  return conditional;
}

}  // namespace tempera::reference
