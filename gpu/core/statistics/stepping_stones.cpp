#include "gpu/core/statistics/stepping_stones.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/core/lottery/exponential.hpp"

namespace tempera::gpu {
namespace {

/// log(e^a + e^b).
double log_sum(double a, double b) {
  const double most = std::max(a, b);
  return std::isinf(most) ? most : most + logarithm(1.0 + exponential(std::min(a, b) - most));
}

/// √((n − 1)/n Σ (w_i − w̄)²).
double jackknife_error(std::span<const double> without) {
  const auto count = static_cast<double>(without.size());
  double mean = 0.0;
  for (const double one : without) mean += one / count;
  double squares = 0.0;
  for (const double one : without) squares += (one - mean) * (one - mean);
  return std::sqrt((count - 1.0) / count * squares);
}

}  // namespace

StoneErrors stepping_stone_errors(std::span<const std::vector<double>> log_means) {
  const std::size_t answers = log_means.size();
  StoneErrors errors;
  std::vector<double> without(answers);
  std::vector<double> sums(answers, 0.0);
  std::vector<double> after(answers);
  constexpr double none = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < log_means.front().size(); ++k) {
    // Sums from both ends, since one answer may hold nearly all of the whole sum. The term that all
    // estimates share, log(n − 1), is left out.
    double sum = none;
    for (std::size_t i = answers; i-- > 0;) {
      after[i] = sum;
      sum = log_sum(sum, log_means[i][k]);
    }
    sum = none;
    for (std::size_t i = 0; i < answers; ++i) {
      without[i] = log_sum(sum, after[i]);
      sums[i] += without[i];
      sum = log_sum(sum, log_means[i][k]);
    }
    errors.of_ratios.push_back(jackknife_error(without));
    errors.of_sums.push_back(jackknife_error(sums));
  }
  return errors;
}

}  // namespace tempera::gpu
