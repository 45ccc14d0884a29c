#include "runs/chain_figures.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace tempera::gpu {
namespace {

using Chains = std::vector<std::vector<double>>;

double mean_of(const std::vector<double>& draws) {
  return std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
}

/// Σ (x - x̄)² / (N - 1).
double variance_of(const std::vector<double>& draws) {
  const double mean = mean_of(draws);
  double sum = 0;
  for (const double x : draws) sum += (x - mean) * (x - mean);
  return sum / static_cast<double>(draws.size() - 1);
}

std::vector<double> pooled(const Chains& chains) {
  std::vector<double> all;
  for (const auto& chain : chains) all.insert(all.end(), chain.begin(), chain.end());
  return all;
}

/// Each chain as two, without the middle draw where their number is odd.
Chains halves_of(const Chains& chains) {
  Chains halves;
  for (const auto& chain : chains) {
    const auto half = static_cast<std::ptrdiff_t>(chain.size() / 2);
    halves.emplace_back(chain.begin(), chain.begin() + half);
    halves.emplace_back(chain.end() - half, chain.end());
  }
  return halves;
}

template <class Change>
Chains changed(const Chains& chains, const Change& change) {
  Chains made = chains;
  for (auto& chain : made)
    for (double& x : chain) x = change(x);
  return made;
}

/// Φ⁻¹((r - 3/8) / (S + 1/4)), r the rank among all S draws; equal draws share their mean rank.
Chains normal_scores(const Chains& chains) {
  std::vector<double> sorted = pooled(chains);
  std::sort(sorted.begin(), sorted.end());
  const auto total = static_cast<double>(sorted.size());
  const boost::math::normal normal;
  return changed(chains, [&](double x) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), x);
    // The ranks from 1: first + 1, ..., last.
    const double rank = (static_cast<double>(first - sorted.begin()) + 1 +
                         static_cast<double>(last - sorted.begin())) /
                        2;
    return boost::math::quantile(normal, (rank - 0.375) / (total + 0.25));
  });
}

bool are_equal(const Chains& chains) {
  const std::vector<double> all = pooled(chains);
  return std::all_of(all.begin(), all.end(), [&](double x) { return x == all.front(); });
}

/// Autocorrelations of several chains together, by lag; each lag is computed when it is asked for,
/// and few are.
class Autocorrelation {
 public:
  explicit Autocorrelation(const Chains& chains) : chains_(chains) {
    std::vector<double> means;
    for (auto& chain : chains_) {
      means.push_back(mean_of(chain));
      for (double& x : chain) x -= means.back();
    }
    const double at_zero = covariance(0);
    const auto count = static_cast<double>(chains_.front().size());
    within_ = at_zero * count / (count - 1);
    spread_ = at_zero + (means.size() > 1 ? variance_of(means) : 0);
  }
  double operator()(std::size_t lag) const { return 1 - (within_ - covariance(lag)) / spread_; }

 private:
  /// Σ_t (x_t - x̄)(x_{t+lag} - x̄) / N, its mean over the chains.
  double covariance(std::size_t lag) const {
    double sum = 0;
    for (const auto& chain : chains_)
      for (std::size_t t = 0; t + lag < chain.size(); ++t) sum += chain[t] * chain[t + lag];
    return sum / static_cast<double>(chains_.size() * chains_.front().size());
  }

  Chains chains_;
  double within_ = 0;
  double spread_ = 0;
};

/// S / τ, τ = -1 + 2 Σ ρ_k by Geyer's initial monotone sequence; S if all draws are equal.
double effective_size(const Chains& chains) {
  const std::size_t count = chains.front().size();
  const auto total = static_cast<double>(chains.size() * count);
  if (are_equal(chains)) return total;
  const Autocorrelation rho(chains);
  // Two neighbouring lags of a reversible chain have a positive sum; the first pair without is
  // noise.
  struct Pair {
    double even, odd;
    double sum() const { return even + odd; }
  };
  std::vector<Pair> pairs{{1.0, rho(1)}};
  for (std::size_t lag = 2; lag + 2 < count && pairs.back().sum() > 0; lag += 2)
    pairs.push_back({rho(lag), rho(lag + 1)});
  const Pair last = pairs.back();
  pairs.pop_back();
  double tau = -1 + (last.even > 0 || last.sum() >= 0 ? last.even : 0);
  double least = std::numeric_limits<double>::infinity();
  for (const Pair& pair : pairs) {
    least = std::min(least, pair.sum());
    tau += 2 * least;
  }
  return total / std::max(tau, 1 / std::log10(total));
}

/// The share-th quantile of all draws, between its neighbours in proportion.
double quantile_of(const Chains& chains, double share) {
  std::vector<double> sorted = pooled(chains);
  std::sort(sorted.begin(), sorted.end());
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 == sorted.size()) return sorted.back();
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

/// The middle of all draws, or the mean of the two in the middle.
double median_of(const Chains& chains) {
  std::vector<double> sorted = pooled(chains);
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// √((B / W + N - 1) / N) of the chains' normal scores; none if all draws are equal, infinite if
/// each chain is constant and they differ.
std::optional<double> reduction(const Chains& chains) {
  if (are_equal(chains)) return std::nullopt;
  const Chains scores = normal_scores(chains);
  double within = 0;
  std::vector<double> means;
  bool is_stuck = true;
  for (const auto& chain : scores) {
    is_stuck = is_stuck && are_equal({chain});
    within += variance_of(chain) / static_cast<double>(scores.size());
    means.push_back(mean_of(chain));
  }
  const auto count = static_cast<double>(scores.front().size());
  if (is_stuck) return std::numeric_limits<double>::infinity();
  return std::sqrt(variance_of(means) / within + (count - 1) / count);
}

}  // namespace

ChainFigures figures_of(const Chains& chains) {
  const std::vector<double> all = pooled(chains);
  const Chains halves = halves_of(chains);
  ChainFigures figures;
  figures.mean = mean_of(all);
  figures.sd = std::sqrt(variance_of(all));
  figures.mcse = figures.sd / std::sqrt(effective_size(halves));
  figures.ess_bulk = effective_size(normal_scores(halves));
  figures.ess_tail = std::numeric_limits<double>::infinity();
  for (const double share : {0.05, 0.95}) {
    const double tail = quantile_of(chains, share);
    const Chains below = changed(halves, [&](double x) { return x <= tail ? 1.0 : 0.0; });
    figures.ess_tail = std::min(figures.ess_tail, effective_size(below));
  }
  const double median = median_of(halves);
  figures.r_hat = reduction(halves);
  const auto folded = reduction(changed(halves, [&](double x) { return std::abs(x - median); }));
  if (folded && (!figures.r_hat || *folded > *figures.r_hat)) figures.r_hat = folded;
  return figures;
}

}  // namespace tempera::gpu
