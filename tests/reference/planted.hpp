#pragma once

// Kernels with one planted defect each, which the checks must catch.
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"

namespace tempera::reference::planted {

enum class Defect { none, transposed_acceptance, unscored_proposal, restart_within_length };

/// The uniform fixed-horizon kernel, rebuilt with one defect.
inline Matrix local_kernel(const FixedHorizonSpace& space, const Power& power, Defect defect) {
  const Law target = power_target(space, power);
  const SuffixProposal proposal(space, power);
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    const bool within_length = defect == Defect::restart_within_length;
    const std::size_t positions = within_length ? space[x].length() : space.horizon();
    for (std::size_t y = 0; y < space.size(); ++y) {
      if (y == x) continue;
      for (std::size_t r = 1; r <= last_shared_restart(space[x], space[y]); ++r) {
        Rational forward = target[x] * proposal.suffix(y, r);
        Rational reverse = target[y] * proposal.suffix(x, r);
        if (defect == Defect::transposed_acceptance) std::swap(forward, reverse);
        if (defect == Defect::unscored_proposal) {
          forward = target[x];
          reverse = target[y];
        }
        kernel(x, y) += proposal.suffix(y, r) / Rational(positions) * acceptance(reverse, forward);
      }
    }
  }
  complete_rows_on_diagonal(kernel);
  return kernel;
}

}  // namespace tempera::reference::planted
