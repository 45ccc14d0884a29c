#include "reference/kernels/swap.hpp"

#include "reference/kernels/metropolis_hastings.hpp"

namespace tempera::reference {

Matrix swap_acceptance(const Law& lower, const Law& upper) {
  Matrix accepted(lower.size(), lower.size());
  for (std::size_t x = 0; x < lower.size(); ++x) {
    for (std::size_t y = 0; y < lower.size(); ++y) {
      accepted(x, y) = acceptance(lower[y] * upper[x], lower[x] * upper[y]);
    }
  }
  return accepted;
}

Matrix truncating_swap_acceptance(const ComparisonSpace& space, const Power& lower,
                                  const Power& upper) {
  Law lower_scores, upper_scores;
  for (std::size_t x = 0; x < space.size(); ++x) {
    lower_scores.push_back(lower.raise(space.likelihood(x)));
    upper_scores.push_back(upper.raise(space.likelihood(x)));
  }
  return swap_acceptance(lower_scores, upper_scores);
}

}  // namespace tempera::reference
