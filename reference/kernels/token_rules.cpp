#include "reference/kernels/token_rules.hpp"

#include <algorithm>

#include "reference/kernels/token_proposal.hpp"
#include "reference/numbers/interval.hpp"

namespace tempera::reference {
namespace {

/// Σ of the weights above `weight`.
Rational weight_above(const TokenRow& weights, const Rational& weight) {
  Rational sum = 0;
  for (const Rational& other : weights)
    if (other > weight) sum += other;
  return sum;
}

/// Leaves of a row what `stays` says of each token's weight, judged by the whole row.
template <class Stays>
void keep(TokenRow& weights, const Stays& stays) {
  const TokenRow before = weights;
  for (Rational& weight : weights)
    if (!stays(before, weight)) weight = 0;
}

/// p0^r exp(-(n f + a)) of the tokens that the history has n > 0 times.
TokenRow penalized(TokenRow row, std::span<const Token> history, const TokenRules& rules) {
  constexpr long bits = bits_of_rounded_power;
  for (Token v = 0; v < row.size(); ++v) {
    const auto times = std::count(history.begin(), history.end(), v);
    if (times == 0 || row[v] == 0) continue;
    if (rules.repetition != 1) row[v] = power(row[v], rules.repetition, bits).lower();
    const Rational taken = rules.frequency * Rational(times) + rules.presence;
    if (taken != 0) row[v] = (Interval(row[v], bits) * exp(Interval(-taken, bits))).lower();
  }
  return row;
}

}  // namespace

TokenRow ruled_proposal(const FiniteModel& model, std::span<const Token> history,
                        const Power& power, const TokenRules& rules) {
  TokenRow weights = token_proposal(penalized(model.token_row(history), history, rules), power);
  Rational of_others = 0;
  for (Token v = 0; v < weights.size(); ++v)
    if (!model.is_terminal(v)) of_others += weights[v];
  if ((rules.ignores_terminal || history.size() < rules.min_tokens) && of_others > 0)
    for (Token v = 0; v < weights.size(); ++v)
      if (model.is_terminal(v)) weights[v] = 0;
  if (rules.top_k > 0)
    keep(weights, [&](const TokenRow& row, const Rational& weight) {
      std::size_t likelier = 0;
      for (const Rational& other : row) likelier += other > weight ? 1 : 0;
      return likelier < rules.top_k;
    });
  keep(weights, [&](const TokenRow& row, const Rational& weight) {
    Rational largest = 0;
    for (const Rational& other : row) largest = other > largest ? other : largest;
    return weight >= rules.min_p * largest;
  });
  keep(weights, [&](const TokenRow& row, const Rational& weight) {
    return weight_above(row, weight) < rules.top_p * weight_above(row, 0);
  });
  const Rational left = weight_above(weights, 0);
  for (Rational& weight : weights) weight /= left;
  return weights;
}

Law ruled_tokenwise_law(const FixedHorizonSpace& space, const Power& power,
                        const TokenRules& rules) {
  Law law(space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    const std::span tokens(space[x].tokens);
    law[x] = 1;
    for (std::size_t t = 0; t < tokens.size(); ++t)
      law[x] *= ruled_proposal(space.model(), tokens.first(t), power, rules)[tokens[t]];
  }
  return law;
}

}  // namespace tempera::reference
