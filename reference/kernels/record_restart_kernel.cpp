#include "reference/kernels/record_restart_kernel.hpp"

#include "base/error.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"

namespace tempera::reference {

Matrix record_restart_kernel(const FixedHorizonSpace& space, const Power& power,
                             const RestartLaw& restart) {
  if (restart(1) == 0)
    throw BadInput("restart law", "position 1 has no weight, and a record of one token no other",
                   "give it a weight above 0");
  const Law target = power_target(space, power);
  const SuffixProposal proposal(space, power);
  const auto chosen = [&](std::size_t r, const Record& x) {  // ω(r | x)
    return Rational(restart(r) / restart.up_to(x.terminal_position().value_or(space.horizon())));
  };
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    for (std::size_t y = 0; y < space.size(); ++y) {
      if (y == x) continue;
      const std::size_t last = last_shared_restart(space[x], space[y]);
      for (std::size_t r = 1; r <= last; ++r) {
        if (restart(r) == 0) continue;
        const Rational forward = chosen(r, space[x]) * proposal.suffix(y, r);
        const Rational reverse = chosen(r, space[y]) * proposal.suffix(x, r);
        kernel(x, y) += forward * acceptance(target[y] * reverse, target[x] * forward);
      }
    }
  }
  complete_rows_on_diagonal(kernel);
  return kernel;
}

Matrix local_kernel(const FixedHorizonSpace& space, const Power& power, const RestartLaw& restart,
                    RestartRange range) {
  return range == RestartRange::record ? record_restart_kernel(space, power, restart)
                                       : fixed_horizon_kernel(space, power, restart);
}

}  // namespace tempera::reference
