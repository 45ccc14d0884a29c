#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {

reference::Matrix restart_within_record(const reference::FixedHorizonSpace& space,
                                        const reference::Power& power, bool factor) {
  using namespace reference;
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

namespace {

using namespace reference;

/// Whether it is in detailed balance and moves: a kernel that never moves is in balance too.
CheckResult restart_factor(const CheckContext& context) {
  Count count;
  bool moves = false;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const Power power{Rational(use.powers.back())};
    const Matrix kernel =
        context.functions.of<KernelFunctions>().restart_within_record(space, power, true);
    count.expect(!first_violation_of_detailed_balance(
                     FactoredKernel(kernel), power_target(space, power), token_counts(space)),
                 use.name);
    moves = moves || kernel(0, 0) != 1;
  }
  count.expect(moves, "no kernel moves any record");
  return count.finding("kernels in detailed balance with the factor");
}

/// The four-state model, squared. From e the one restart proposes a a and a e with 1/4 each and
/// accepts with (1/4)/(1/2); from either of them the restart at 1, of two, proposes e with 1/2 and
/// accepts. So e keeps 2/3 · 3/4 and gets 1/3 · 1/4: 7/12, not 2/3.
CheckResult restart_without_factor(const CheckContext& context) {
  const FixedHorizonSpace space(parse_finite_model(four_state_model, "four-state"), 2);
  const Power power{Rational(2)};
  const Law target = power_target(space, power);
  const Law moved = FactoredKernel(context.functions.of<KernelFunctions>().restart_within_record(
                                       space, power, false))
                        .apply(target);
  const std::size_t e = space.parse("e", "X_1");
  Count count;
  count.expect(target[e] == Rational(2, 3), "the mass of e is " + to_string(target[e]));
  count.expect(moved[e] == Rational(7, 12), "the mass of e becomes " + to_string(moved[e]));
  CheckResult finding = count.finding("");
  if (finding.sound()) finding.detail = "the mass of e moves from 2/3 to 7/12";
  return finding;
}

}  // namespace

std::map<std::string, Check> implementation_restart_checks() {
  return {{"restart_factor", restart_factor}, {"restart_without_factor", restart_without_factor}};
}

}  // namespace tempera::lab
