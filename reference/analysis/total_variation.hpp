#pragma once

#include <vector>

#include "reference/kernels/factored_kernel.hpp"

namespace tempera::reference {

/// TV(μ, ν) = 1/2 Σ_x |μ(x) - ν(x)| for two laws on one space.
Rational total_variation(const Law& mu, const Law& nu);

/// TV(δ_start P^N, target) for N = 0..steps, where step n applies schedule[(n - 1) mod its size]:
/// one kernel for a homogeneous chain, two for the layers of the even-odd schedule.
std::vector<Rational> total_variation_curve(const std::vector<FactoredKernel>& schedule,
                                            std::size_t start, const Law& target,
                                            std::size_t steps);

}  // namespace tempera::reference
