#include "reference/kernels/blockwise_rejection.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.hpp"
#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {
namespace {

/// By their tokens: records and the probability of each.
using Prefixes = std::map<std::vector<Token>, Rational>;

/// One proposal of a block.
struct BlockProposal {
  Prefixes kept;
  Rational tokens;
};

bool is_whole(const FixedHorizonSpace& space, const std::vector<Token>& tokens) {
  return tokens.size() == space.horizon() ||
         (!tokens.empty() && space.model().is_terminal(tokens.back()));
}

/// Follows the proposals of the block from `begin` to `end` that have come to `tokens` alive.
void follow_block(const FixedHorizonSpace& space, const Power& power, std::size_t begin,
                  std::size_t end, std::vector<Token>& tokens, const Rational& alive,
                  BlockProposal& block) {
  if (tokens.size() == end || is_whole(space, tokens)) {
    block.kept[tokens] = alive;
    return;
  }
  const TokenRow& row = space.model().token_row(tokens);
  const TokenRow proposal = token_proposal(row, power);
  const Rational survival = token_normalizer(row, power);
  // A proposal that dies at the block's first prefix draws nothing.
  block.tokens += tokens.size() == begin ? alive * survival : alive;
  for (Token v = 0; v < row.size(); ++v) {
    if (row[v] == 0) continue;
    tokens.push_back(v);
    follow_block(space, power, begin, end, tokens, alive * proposal[v] * survival, block);
    tokens.pop_back();
  }
}

}  // namespace

BlockwiseLaw blockwise_rejection_law(const FixedHorizonSpace& space, std::size_t block,
                                     const Power& power) {
  if (block == 0) throw BadInput("block", "is 0", "give at least 1");
  if (power.value() < 1)
    throw BadInput("power", "is below 1, where a proposal would survive with more than certainty",
                   "give one of at least 1");
  BlockwiseLaw law{Law(space.size()), 0};
  Prefixes open{{{}, 1}};
  while (!open.empty()) {
    Prefixes next;
    for (const auto& [prefix, probability] : open) {
      BlockProposal proposal;
      std::vector<Token> tokens = prefix;
      follow_block(space, power, prefix.size(), std::min(prefix.size() + block, space.horizon()),
                   tokens, 1, proposal);
      Rational share = 0;
      for (const auto& [longer, kept] : proposal.kept) share += kept;
      law.tokens += probability * proposal.tokens / share;
      for (const auto& [longer, kept] : proposal.kept) {
        const Rational reached = probability * kept / share;
        if (is_whole(space, longer))
          law.answer[space.find(longer).value()] += reached;
        else
          next[longer] = reached;
      }
    }
    open = std::move(next);
  }
  return law;
}

}  // namespace tempera::reference
