#include "reference/kernels/decode_tokens.hpp"

#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {

Rational DecodeTokens::continuation(std::span<const Token> tokens, std::size_t horizon) {
  if (tokens.size() >= horizon || (!tokens.empty() && model_.is_terminal(tokens.back()))) return 0;
  std::vector<Token> longer(tokens.begin(), tokens.end());
  const auto [known, is_new] = known_.try_emplace({longer, horizon});
  if (!is_new) return known->second;
  Rational expected = 1;
  const TokenRow proposal = token_proposal(model_.token_row(tokens), power_);
  longer.push_back(0);
  for (Token v = 0; v < proposal.size(); ++v) {
    longer.back() = v;
    if (proposal[v] != 0) expected += proposal[v] * continuation(longer, horizon);
  }
  return known->second = expected;
}

Rational DecodeTokens::local_move(const Record& x, const RestartLaw& restart, RestartRange range) {
  Rational expected = 0;
  const std::size_t last = x.terminal_position().value_or(restart.horizon());
  for (std::size_t r = 1; r <= last; ++r)
    expected += restart(r) * continuation(std::span(x.tokens).first(r - 1), restart.horizon());
  return range == RestartRange::record ? Rational(expected / restart.up_to(last)) : expected;
}

Rational DecodeTokens::truncating_move(const Record& x) {
  Rational expected = 0;
  for (std::size_t r = 1; r <= x.length(); ++r)
    expected += continuation(std::span(x.tokens).first(r - 1), x.length());
  return expected / Rational(x.length());
}

}  // namespace tempera::reference
