#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace tempera::gpu {

/// How often each outcome comes up in n draws from the law.
inline std::vector<std::uint64_t> counts_from(const std::vector<double>& law, std::size_t n,
                                              std::mt19937_64& random) {
  std::discrete_distribution<std::size_t> draw(law.begin(), law.end());
  std::vector<std::uint64_t> counts(law.size());
  for (std::size_t i = 0; i < n; ++i) ++counts[draw(random)];
  return counts;
}

/// Pearson's statistic Σ (c − n p)² / (n p).
inline double pearson(const std::vector<std::uint64_t>& counts, const std::vector<double>& law,
                      std::size_t n) {
  double sum = 0.0;
  for (std::size_t s = 0; s < law.size(); ++s) {
    const double expected = static_cast<double>(n) * law[s];
    const double difference = static_cast<double>(counts[s]) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

/// What Pearson's statistic exceeds with probability at most `false_alarm` under the law, by
/// Cantelli's inequality from its exact mean m − 1 and its exact variance
/// 2(m − 1) + (Σ 1/p − m² − 2m + 2) / n: a bound, whatever n, and no approximation.
inline double pearson_bound(const std::vector<double>& law, std::size_t n, double false_alarm) {
  const auto m = static_cast<double>(law.size());
  double inverse = 0.0;
  for (const double p : law) inverse += 1.0 / p;
  const double variance =
      2.0 * (m - 1.0) + (inverse - m * m - 2.0 * m + 2.0) / static_cast<double>(n);
  return m - 1.0 + std::sqrt(variance * (1.0 / false_alarm - 1.0));
}

}  // namespace tempera::gpu
