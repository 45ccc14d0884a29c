#include "reference/analysis/diagnostics.hpp"

#include <map>
#include <utility>

namespace tempera::reference {

Rational effective_sample_size(const std::vector<Rational>& weights) {
  Rational sum = 0, squares = 0;
  for (const Rational& weight : weights) {
    sum += weight;
    squares += weight * weight;
  }
  return sum * sum / squares;
}

Rational incremental_weight_variance(const TokenRow& row, const Power& power,
                                     const TokenRow& proposal) {
  Rational mean = 0, second = 0;
  for (std::size_t v = 0; v < row.size(); ++v) {
    if (proposal[v] == 0) continue;
    const Rational weight = power.raise(row[v]) / proposal[v];
    mean += proposal[v] * weight;
    second += proposal[v] * weight * weight;
  }
  return second - mean * mean;
}

Interval negative_entropy(const TokenRow& row, long bits) {
  Interval sum(0, bits);
  for (const Rational& p : row)
    if (p > 0) sum = sum + Interval(p, bits) * log(Interval(p, bits));
  return sum;
}

std::optional<std::size_t> majority_answer(const std::vector<std::size_t>& answers,
                                           const std::vector<Rational>& likelihoods) {
  // How many traces give an answer, and their likelihoods' product: the order of the rule.
  std::map<std::size_t, std::pair<std::size_t, Rational>> of_answer;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto entry = of_answer.try_emplace(answers[i], 0, Rational(1)).first;
    ++entry->second.first;
    entry->second.second *= likelihoods[i];
  }
  std::optional<std::size_t> best;
  bool tied = false;
  for (const auto& [answer, votes] : of_answer) {
    if (best && votes < of_answer.at(*best)) continue;
    tied = best && votes == of_answer.at(*best);
    if (!tied) best = answer;
  }
  return tied ? std::nullopt : best;
}

}  // namespace tempera::reference
