#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {

// eq:theory-token-normalizer
Rational token_normalizer(const TokenRow& row, const Power& power) {
  Rational z = 0;
  for (const Rational& probability : row) z += power.raise(probability);
  return z;
}

// eq:theory-tokenwise-proposal
TokenRow token_proposal(const TokenRow& row, const Power& power) {
  const Rational z = token_normalizer(row, power);
  TokenRow proposal;
  for (const Rational& probability : row) proposal.push_back(power.raise(probability) / z);
  return proposal;
}

}  // namespace tempera::reference
