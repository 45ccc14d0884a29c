#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tempera::gpu {

/// The fewest draws of a chain that can be split in two halves with a variance each.
inline constexpr std::size_t fewest_draws = 4;

/// The figures by which users of Markov chain Monte Carlo judge a quantity's chains, as Vehtari,
/// Gelman, Simpson, Carpenter and Bürkner define it (Bayesian Analysis 16, 2021).
/// tempera.diagnostics in Python has the same figures, by other code.
struct ChainFigures {
  double mean = 0;
  double sd = 0;
  double mcse = 0;              ///< of the mean: sd by the root of the mean's effective sample size
  double ess_bulk = 0;          ///< of the normal scores of the ranks, chains split in halves
  double ess_tail = 0;          ///< the smaller of those of x <= q05 and x <= q95
  std::optional<double> r_hat;  ///< rank-normalised, split and folded; none if all draws are equal
};

/// chains: [chain][draw], all of one length. @pre at least one chain, of fewest_draws finite draws
ChainFigures figures_of(const std::vector<std::vector<double>>& chains);

}  // namespace tempera::gpu
