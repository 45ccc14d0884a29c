#pragma once

#include <span>
#include <vector>

namespace tempera::gpu {

/// Standard errors of stepping-stone estimates, by the jackknife over independent answers.
struct StoneErrors {
  std::vector<double> of_ratios;  ///< of log(Z_{k+1}/Z_k), one per edge
  std::vector<double> of_sums;    ///< of log(Z_{k+1}/Z_1)
};

/// log_means: of each answer one per edge, the log of the mean of its terms
/// p0(x^(k))^(α_{k+1} − α_k); every answer has as many terms. The estimate is the log of the mean
/// over all of them.
/// @pre two answers or more
StoneErrors stepping_stone_errors(std::span<const std::vector<double>> log_means);

}  // namespace tempera::gpu
