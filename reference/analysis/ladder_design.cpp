#include "reference/analysis/ladder_design.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"

namespace tempera::reference {
namespace {

void require_two(std::size_t rungs) {
  if (rungs < 2)
    throw BadInput("ladder", std::to_string(rungs) + " rungs have no edge", "give at least two");
}

// The step of a geometric ladder, (α_K / α_1)^{1/(K-1)}.
Rational geometric_step(const Power& lowest, const Power& highest, std::size_t rungs) {
  const Rational ratio = highest.value() / lowest.value();
  const auto step = exact_power(ratio, Rational(1) / Rational(rungs - 1));
  if (!step)
    throw BadInput("ladder",
                   "the geometric ladder from " + to_string(lowest.value()) + " to " +
                       to_string(highest.value()) + " with " + std::to_string(rungs) +
                       " rungs is irrational",
                   "choose end powers whose ratio has an exact root");
  return *step;
}

}  // namespace

Rational thermodynamic_gap(Spread spread, const Power& lower, const Power& upper) {
  if (spread == Spread::constant) return upper.value() - lower.value();
  return upper.value() / lower.value();
}

Ladder equal_distance_ladder(Spread spread, const Power& lowest, const Power& highest,
                             std::size_t rungs) {
  require_two(rungs);
  Ladder({lowest, highest});  // refuses powers that do not increase
  std::vector<Power> powers;
  Rational power = lowest.value();
  if (spread == Spread::constant) {
    const Rational step = (highest.value() - lowest.value()) / Rational(rungs - 1);
    for (std::size_t k = 0; k < rungs; ++k, power += step) powers.emplace_back(power);
  } else {
    const Rational step = geometric_step(lowest, highest, rungs);
    for (std::size_t k = 0; k < rungs; ++k, power *= step) powers.emplace_back(power);
  }
  return Ladder(std::move(powers));
}

MaximinLadder maximin_ladder(const std::vector<Power>& candidates, std::size_t rungs,
                             const EdgeQuality& quality) {
  require_two(rungs);
  if (candidates.size() < rungs)
    throw BadInput(
        "ladder",
        std::to_string(candidates.size()) + " candidates for " + std::to_string(rungs) + " rungs",
        "give at least one candidate for each rung");
  for (std::size_t j = 1; j < candidates.size(); ++j) Ladder({candidates[j - 1], candidates[j]});

  const std::size_t n = candidates.size();
  std::vector<std::vector<Rational>> edge(n, std::vector<Rational>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) edge[i][j] = quality(candidates[i], candidates[j]);

  // best[k][j]: the best weakest edge of ladders of k + 1 rungs from the first candidate to j.
  std::vector<std::vector<std::optional<Rational>>> best(rungs,
                                                         std::vector<std::optional<Rational>>(n));
  for (std::size_t j = 1; j < n; ++j) best[1][j] = edge[0][j];
  for (std::size_t k = 2; k < rungs; ++k)
    for (std::size_t j = k; j < n; ++j)
      for (std::size_t i = k - 1; i < j; ++i) {
        const Rational weakest = std::min(*best[k - 1][i], edge[i][j]);
        if (!best[k][j] || weakest > *best[k][j]) best[k][j] = weakest;
      }
  const Rational weakest = *best[rungs - 1][n - 1];

  // count[k][j]: ladders of k + 1 rungs to j none of whose edges is below the optimum.
  std::vector<std::vector<std::size_t>> count(rungs, std::vector<std::size_t>(n));
  count[0][0] = 1;
  for (std::size_t k = 1; k < rungs; ++k)
    for (std::size_t j = 1; j < n; ++j)
      for (std::size_t i = 0; i < j; ++i)
        if (edge[i][j] >= weakest) count[k][j] += count[k - 1][i];

  std::vector<Power> powers{candidates.back()};
  for (std::size_t k = rungs - 1, j = n - 1; k > 0; --k) {
    std::size_t i = 0;
    while (count[k - 1][i] == 0 || edge[i][j] < weakest) ++i;
    powers.push_back(candidates[i]);
    j = i;
  }
  std::reverse(powers.begin(), powers.end());
  return {Ladder(std::move(powers)), weakest, count[rungs - 1][n - 1]};
}

}  // namespace tempera::reference
