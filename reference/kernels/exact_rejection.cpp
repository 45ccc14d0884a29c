#include "reference/kernels/exact_rejection.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {
namespace {

/// Follows the proposals that have come to `tokens` alive, with probability `alive`.
void follow(const FixedHorizonSpace& space, const Power& power, std::vector<Token>& tokens,
            const Rational& alive, ProposalLaw& law) {
  const FiniteModel& model = space.model();
  const bool has_ended = !tokens.empty() && model.is_terminal(tokens.back());
  if (has_ended || tokens.size() == space.horizon()) {
    law.kept[space.find(tokens).value()] = alive;
    return;
  }
  const TokenRow& row = model.token_row(tokens);
  const TokenRow proposal = token_proposal(row, power);
  const Rational survival = token_normalizer(row, power);
  // Before the first token nothing is drawn for a proposal that dies; later the pass that shows the
  // survival draws the token that follows.
  const bool is_first = tokens.empty();
  law.tokens += is_first ? alive * survival : alive;
  law.died[is_first ? 0 : tokens.size() + 1] += alive * (1 - survival);
  for (Token v = 0; v < row.size(); ++v) {
    if (row[v] == 0) continue;
    tokens.push_back(v);
    follow(space, power, tokens, alive * proposal[v] * survival, law);
    tokens.pop_back();
  }
}

}  // namespace

ProposalLaw proposal_law(const FixedHorizonSpace& space, const Power& power) {
  if (power.value() < 1)
    throw BadInput("power", "is below 1, where a proposal would survive with more than certainty",
                   "give one of at least 1");
  ProposalLaw law{Law(space.size()), std::vector<Rational>(space.horizon() + 1), 0};
  std::vector<Token> tokens;
  follow(space, power, tokens, 1, law);
  return law;
}

RejectionLaw rejection_law(const FixedHorizonSpace& space, const Power& power,
                           std::size_t most_tokens) {
  const std::size_t horizon = space.horizon();
  if (most_tokens < horizon)
    throw BadInput("most tokens", "are fewer than the horizon", "give at least the horizon");
  const ProposalLaw proposal = proposal_law(space, power);
  Rational share = 0;
  for (const Rational& probability : proposal.kept) share += probability;
  // by the tokens that are spent: the expected number of proposals that begin there
  std::vector<Rational> begun(most_tokens + 1);
  begun[0] = 1;
  RejectionLaw law{Law(space.size()), 0, 0};
  for (std::size_t spent = 0; spent + horizon <= most_tokens; ++spent) {
    if (begun[spent] == 0) continue;
    law.drawn += begun[spent] * share;
    law.tokens += begun[spent] * proposal.tokens;
    for (std::size_t x = 0; x < space.size(); ++x) law.answer[x] += begun[spent] * proposal.kept[x];
    for (std::size_t t = 0; t <= horizon; ++t)
      begun[spent + std::max<std::size_t>(t, 1)] += begun[spent] * proposal.died[t];
  }
  for (Rational& probability : law.answer) probability /= law.drawn;
  return law;
}

}  // namespace tempera::reference
