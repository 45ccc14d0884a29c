#include "reference/kernels/systematic_resampling.hpp"

#include <iterator>
#include <set>

namespace tempera::reference {

std::vector<Offspring> systematic_resampling(const std::vector<Rational>& weights) {
  const Rational count(weights.size());
  Rational total = 0;
  for (const Rational& weight : weights) total += weight;
  std::vector<Rational> shares;  // C_j
  Rational sum = 0;
  for (const Rational& weight : weights) {
    sum += weight;
    shares.push_back(sum / total);
  }
  // (i + U)/N passes C_j where U = N C_j − i.
  std::set<Rational> ends{Rational(0), Rational(1)};
  for (const Rational& share : shares) {
    const Rational point = count * share;
    const Integer whole = numerator(point) / denominator(point);
    ends.insert(point - Rational(whole));
  }
  std::vector<Offspring> outcomes;
  for (auto left = ends.begin(), right = std::next(left); right != ends.end(); ++left, ++right) {
    Offspring outcome{*right - *left, {}};
    const Rational u = (*left + *right) / 2;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      std::size_t j = 0;
      while ((Rational(i) + u) / count >= shares[j]) ++j;
      outcome.ancestors.push_back(j);
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace tempera::reference
