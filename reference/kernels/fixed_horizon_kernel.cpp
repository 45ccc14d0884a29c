#include "reference/kernels/fixed_horizon_kernel.hpp"

#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"

namespace tempera::reference {

Matrix fixed_horizon_kernel_at(const FixedHorizonSpace& space, const Power& power, std::size_t r) {
  std::vector<Rational> only_r(space.horizon(), Rational(0));
  only_r[r - 1] = 1;
  return fixed_horizon_kernel(space, power, RestartLaw(std::move(only_r)));
}

Matrix fixed_horizon_kernel(const FixedHorizonSpace& space, const Power& power,
                            const RestartLaw& restart) {
  const Law target = power_target(space, power);
  const SuffixProposal proposal(space, power);
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    for (std::size_t y = 0; y < space.size(); ++y) {
      if (y == x) continue;
      const std::size_t last = last_shared_restart(space[x], space[y]);
      for (std::size_t r = 1; r <= last; ++r) {
        if (restart(r) == 0) continue;
        const Rational& forward = proposal.suffix(y, r);  // q_r(y | x), the prefixes being equal
        const Rational& reverse = proposal.suffix(x, r);  // q_r(x | y)
        // eq:implementation-local-mh-acceptance
        kernel(x, y) += restart(r) * forward * acceptance(target[y] * reverse, target[x] * forward);
      }
    }
  }
  complete_rows_on_diagonal(kernel);
  return kernel;
}

}  // namespace tempera::reference
