#include "reference/kernels/suffix_proposal.hpp"

#include <map>

#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {

SuffixProposal::SuffixProposal(const RecordSpace& space, const Power& power) : space_(space) {
  std::map<const TokenRow*, TokenRow> proposals;  // rows are shared by many records
  for (std::size_t y = 0; y < space.size(); ++y) {
    const auto& tokens = space[y].tokens;
    auto& along = tokens_.emplace_back();
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const TokenRow& row = space.model().token_row(std::span(tokens).first(t));
      auto proposal = proposals.find(&row);
      if (proposal == proposals.end()) {
        proposal = proposals.emplace(&row, token_proposal(row, power)).first;
      }
      along.push_back(proposal->second[tokens[t]]);
    }
    auto& suffix = suffixes_.emplace_back(along.size() + 1, Rational(1));
    for (std::size_t t = along.size(); t-- > 0;) suffix[t] = along[t] * suffix[t + 1];
  }
}

const Rational& SuffixProposal::token(std::size_t y, std::size_t t) const {
  return t <= tokens_[y].size() ? tokens_[y][t - 1] : one_;
}

const Rational& SuffixProposal::suffix(std::size_t y, std::size_t r) const {
  return r <= tokens_[y].size() ? suffixes_[y][r - 1] : one_;
}

// eq:implementation-fixed-suffix-proposal
Rational SuffixProposal::operator()(std::size_t r, std::size_t x, std::size_t y) const {
  if (x != y && r > last_shared_restart(space_[x], space_[y])) return 0;
  return suffix(y, r);
}

}  // namespace tempera::reference
