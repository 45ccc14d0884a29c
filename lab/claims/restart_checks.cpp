#include "lab/claims/checks.hpp"
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// The kernel whose restart position is uniform on 1..len(x), with the factor len(x)/len(y) in its
/// acceptance ratio or without (Section implementation-local).
Matrix restart_within_record(const FixedHorizonSpace& space, const Power& power, bool factor) {
  const Law target = power_target(space, power);
  const SuffixProposal q(space, power);
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    for (std::size_t y = 0; y < space.size(); ++y) {
      if (x == y) continue;
      const Rational at_x(1, static_cast<unsigned>(space[x].length()));
      const Rational at_y(1, static_cast<unsigned>(space[y].length()));
      for (std::size_t r = 1; r <= last_shared_restart(space[x], space[y]); ++r) {
        const Rational forward = target[x] * q(r, x, y) * (factor ? at_x : Rational(1));
        const Rational reverse = target[y] * q(r, y, x) * (factor ? at_y : Rational(1));
        kernel(x, y) += at_x * q(r, x, y) * acceptance(reverse, forward);
      }
    }
  }
  complete_rows_on_diagonal(kernel);
  return kernel;
}

Verdict restart_factor(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    const Power power{Rational(use.powers.back())};
    const FactoredKernel kernel(restart_within_record(space, power, true));
    count.expect(!first_violation_of_detailed_balance(kernel, power_target(space, power),
                                                      token_counts(space)),
                 use.name);
  }
  return count.verdict("models in detailed balance with the factor");
}

Verdict restart_without_factor(const Evidence& evidence) {
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    const Power power{Rational(use.powers.back())};
    const FactoredKernel kernel(restart_within_record(space, power, false));
    const auto moved =
        first_violation_of_invariance(kernel, power_target(space, power), token_counts(space));
    if (moved)
      return {true, "witness " + use.name + ": mass of '" + space.name(moved->state) +
                        "' moves from " + to_string(moved->before) + " to " +
                        to_string(moved->after)};
  }
  return {false, "no shipped model shows it"};
}

}  // namespace

std::map<std::string, Check> restart_checks() {
  return {{"restart_factor", restart_factor}, {"restart_without_factor", restart_without_factor}};
}

}  // namespace tempera::lab
