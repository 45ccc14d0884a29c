#pragma once

#include <cstddef>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// What becomes of N particles if U is in one interval.
struct Offspring {
  Rational probability;
  std::vector<std::size_t> ancestors;  ///< of each of the N, ascending
};

/// Systematic resampling of N particles with these weights, at least one positive and none
/// negative: with U uniform on [0, 1) and C_j = (w_1 + … + w_j) / Σ w, the ancestor of i = 0, …,
/// N − 1 is the first j with (i + U)/N < C_j (sec:hyperparameter-configuration).
std::vector<Offspring> systematic_resampling(const std::vector<Rational>& weights);

}  // namespace tempera::reference
