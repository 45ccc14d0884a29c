#include "reference/kernels/carried_truncating.hpp"

#include <algorithm>
#include <map>

#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {

CarriedTruncating::CarriedTruncating(const ComparisonSpace& space, const Power& power)
    : space_(space) {
  for (std::size_t x = 0; x < space_.size(); ++x) {
    const auto& tokens = space_[x].tokens;
    auto& weights = weights_.emplace_back(1, Rational(1));
    auto& proposals = proposals_.emplace_back(1, Rational(1));
    // What a record shares with the one before it in depth-first order is computed already.
    std::size_t shared = 0;
    if (x > 0) {
      const auto& before = space_[x - 1].tokens;
      shared = static_cast<std::size_t>(
          std::mismatch(tokens.begin(), tokens.end(), before.begin(), before.end()).first -
          tokens.begin());
    }
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (t < shared) {
        weights.push_back(weights_[x - 1][t + 1]);
        proposals.push_back(proposals_[x - 1][t + 1]);
        continue;
      }
      const TokenRow& row = space_.model().token_row(std::span(tokens).first(t));
      const Rational z = token_normalizer(row, power);
      weights.push_back(weights.back() * z);
      proposals.push_back(proposals.back() * power.raise(row[tokens[t]]) / z);
    }
  }
  gather(0, space_.size(), 0);
}

Rational CarriedTruncating::proposal(std::size_t y, std::size_t restart) const {
  return proposals_[y].back() / proposals_[y][restart - 1];
}

// Records first..last agree in their first `depth` tokens and are longer.
void CarriedTruncating::gather(std::size_t first, std::size_t last, std::size_t depth) {
  std::map<std::size_t, std::vector<std::size_t>> of_length;
  for (std::size_t x = first; x < last; ++x) of_length[space_[x].length()].push_back(x);
  for (const auto& [source_length, sources] : of_length)
    for (const auto& [end, others] : of_length) {
      if (end > source_length) break;
      Group group{depth + 1, source_length, end, sources, {}};
      for (const std::size_t y : others)
        if (end == source_length || space_[y].terminated) group.candidates.push_back(y);
      if (group.candidates.empty()) continue;
      for (auto* records : {&group.sources, &group.candidates})
        std::stable_sort(records->begin(), records->end(), [&](std::size_t x, std::size_t y) {
          return weight(x, end) < weight(y, end);
        });
      groups_.push_back(std::move(group));
    }
  for (std::size_t x = first; x < last;) {
    const Token token = space_[x].tokens[depth];
    std::size_t next = x;
    while (next < last && space_[next].tokens[depth] == token) ++next;
    // The record that ends with this token comes first.
    const std::size_t longer = space_[x].length() == depth + 1 ? x + 1 : x;
    if (longer < next) gather(longer, next, depth + 1);
    x = next;
  }
}

Law CarriedTruncating::apply(const Law& law) const {
  Law next = law;
  for (const Group& group : groups_) {
    std::vector<Rational> masses;  // of the sources, with this restart position
    Rational above = 0;  // Σ mass / w over the sources that weigh more than the candidate
    for (const std::size_t x : group.sources) {
      masses.push_back(law[x] / Rational(group.source_length));
      above += masses.back() / weight(x, group.end);
    }
    std::vector<Rational> chances, scores;  // of the candidates: g, and g w
    Rational chance_left = 0;               // Σ g over the candidates that weigh as much or more
    for (const std::size_t y : group.candidates) {
      chances.push_back(proposal(y, group.restart));
      scores.push_back(chances.back() * weight(y, group.end));
      chance_left += chances.back();
    }
    Rational below = 0;  // Σ mass over the sources that weigh no more
    std::size_t s = 0;
    for (std::size_t c = 0; c < group.candidates.size(); ++c) {
      const std::size_t y = group.candidates[c];
      for (;
           s < group.sources.size() && weight(group.sources[s], group.end) <= weight(y, group.end);
           ++s) {
        below += masses[s];
        above -= masses[s] / weight(group.sources[s], group.end);
      }
      next[y] += chances[c] * below + scores[c] * above;
    }
    Rational score_below = 0;  // Σ g w over the candidates that weigh less
    std::size_t c = 0;
    for (std::size_t i = 0; i < group.sources.size(); ++i) {
      const Rational& w = weight(group.sources[i], group.end);
      for (; c < group.candidates.size() && weight(group.candidates[c], group.end) < w; ++c) {
        score_below += scores[c];
        chance_left -= chances[c];
      }
      next[group.sources[i]] -= masses[i] * (chance_left + score_below / w);
    }
  }
  return next;
}

Rational CarriedTruncating::probability(std::size_t x, std::size_t y) const {
  const std::size_t budget = space_[x].length(), end = space_[y].length();
  if (end > budget || (end < budget && !space_[y].terminated)) return 0;
  Rational sum = 0;
  for (std::size_t r = 1; r <= last_shared_restart(space_[x], space_[y]); ++r)
    sum += proposal(y, r);
  return sum * acceptance(weight(y, end), weight(x, end)) / Rational(budget);
}

}  // namespace tempera::reference
