#include "reference/kernels/truncating_kernel.hpp"

#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"

namespace tempera::reference {
namespace {

// Π_{t=1}^{n} p0(x_t | x_{<t}) for n = 0..len(x), of every record.
std::vector<std::vector<Rational>> prefix_likelihoods(const RecordSpace& space) {
  std::vector<std::vector<Rational>> likelihoods;
  for (std::size_t x = 0; x < space.size(); ++x) {
    const auto& tokens = space[x].tokens;
    auto& prefix = likelihoods.emplace_back(1, Rational(1));
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const TokenRow& row = space.model().token_row(std::span(tokens).first(t));
      prefix.push_back(prefix.back() * row[tokens[t]]);
    }
  }
  return likelihoods;
}

}  // namespace

Matrix truncating_kernel(const ComparisonSpace& space, const Power& power) {
  const SuffixProposal proposal(space, power);
  const auto likelihoods = prefix_likelihoods(space);
  // Scores of positions r..end: the model's, powered, and the proposal's.
  const auto target_score = [&](std::size_t x, std::size_t r, std::size_t end) {
    return power.raise(likelihoods[x][end] / likelihoods[x][r - 1]);
  };
  const auto proposal_score = [&](std::size_t x, std::size_t r, std::size_t end) {
    return Rational(proposal.suffix(x, r) / proposal.suffix(x, end + 1));
  };

  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    const std::size_t budget = space[x].length();
    const Rational restart = Rational(1) / Rational(budget);
    for (std::size_t y = 0; y < space.size(); ++y) {
      const std::size_t end = space[y].length();
      const bool generated = end == budget || (end < budget && space[y].terminated);
      if (y == x || !generated) continue;
      for (std::size_t r = 1; r <= last_shared_restart(space[x], space[y]); ++r) {
        const Rational forward = proposal_score(y, r, end);
        kernel(x, y) += restart * forward *
                        acceptance(target_score(y, r, end) * proposal_score(x, r, end),
                                   target_score(x, r, end) * forward);
      }
    }
  }
  complete_rows_on_diagonal(kernel);
  return kernel;
}

}  // namespace tempera::reference
