#include <algorithm>
#include <set>

#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "lab/claims/bound_functions.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// subsec:theory-prompt: what is stored of a record, its tokens without the tail, is found again
/// and is that of no other; and a record without a terminal token has T of them.
CheckResult implicit_tail(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    std::set<std::vector<Token>> padded;
    for (std::size_t x = 0; x < space.size(); ++x) {
      std::vector<Token> with_tail = space[x].tokens;
      with_tail.resize(use.horizon, static_cast<Token>(use.model.vocabulary_size()));
      count.expect(space.find(space[x].tokens) == x && padded.insert(with_tail).second &&
                       (space[x].terminated || space[x].length() == use.horizon) &&
                       context.functions.of<RecordFunctions>().likelihood(space, x) > 0,
                   use.name + ": " + space.name(x));
    }
  }
  return count.seen("records from what is stored of them");
}

/// sec:fixed-horizon-convergence, Scope: ε_k/ω_k(1) is the largest constant that the proposal
/// covers the target by: some record has q^full exactly that multiple, none has less; ε_k is at
/// most ω_k(1), and with uniform restarts ε at most T^-K.
CheckResult epsilon_is_largest(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const RestartLaw uniform = RestartLaw::uniform(use.horizon);
    Rational ceiling = 1;
    for (std::size_t k = 0; k < use.powers.size(); ++k) ceiling /= Rational(use.horizon);
    const Rational together =
        context.functions.of<BoundFunctions>().full_restart_weight(space, use.ladder(), uniform);
    count.expect(together > 0 && together <= ceiling, use.name + ": T^-K");
    Rational product = 1;
    for (const unsigned power : use.powers) {
      const Power alpha{Rational(power)};
      const Rational share = context.functions.of<BoundFunctions>().full_restart_weight(
                                 space, Ladder({alpha}), uniform) *
                             Rational(use.horizon);
      product *= share / Rational(use.horizon);
      const Law target = power_target(space, alpha);
      const SuffixLaw q = context.functions.of<RecordFunctions>().suffix_proposal(space, alpha);
      bool covers = true, reached = false;
      for (std::size_t y = 0; y < space.size(); ++y) {
        const Rational full = q(1, 0, y);
        covers = covers && full >= share * target[y];
        reached = reached || full == share * target[y];
      }
      count.expect(covers && reached && share <= 1, use.name + ", power " + std::to_string(power));
    }
    count.expect(product == together, use.name + ": the product over the rungs");
  }
  return count.seen("epsilons, each reached");
}

/// The last two sentences of the convergence proof: a marginal is no farther from its target than
/// the ensemble, and an invariant update, be it a sweep or a swap, takes no law farther away.
CheckResult never_farther(const CheckContext& context) {
  Count count;
  bool nearer = false;
  for (const ShippedUse& use : context.uses) {
    if (use.powers.size() < 2 || use.horizon > 3) continue;
    const ParallelTempering chain(use.space(), use.ladder(), use.restart_law());
    const Law target = chain.target();
    const Law even(target.size(), Rational(1) / Rational(target.size()));
    for (const Law& law :
         {point_mass(target.size(), 0), point_mass(target.size(), target.size() / 2), even}) {
      const Rational before = context.functions.of<BoundFunctions>().total_variation(law, target);
      for (std::size_t k = 0; k < use.powers.size(); ++k) {
        const Rational rung = context.functions.of<BoundFunctions>().total_variation(
            marginal(law, chain.shape(), k), chain.rung_target(k));
        count.expect(rung <= before, use.name + ", rung " + std::to_string(k + 1));
        nearer = nearer || rung < before;
      }
      for (const FactoredKernel& kernel :
           {context.functions.of<KernelFunctions>().local_sweep(chain),
            context.functions.of<KernelFunctions>().ordered_sweep(chain)})
        count.expect(context.functions.of<BoundFunctions>().total_variation(kernel.apply(law),
                                                                            target) <= before,
                     use.name + ": farther after an update");
    }
  }
  count.expect(nearer, "every marginal is as far as its ensemble");
  return count.seen("distances of marginals and after updates");
}

/// The contraction of one local sweep: R − εΠ is nowhere negative, and TV(νR, Π) <= (1 − ε) TV(ν,
/// Π).
CheckResult sweep_contracts(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const ParallelTempering chain(use.space(), use.ladder(), use.restart_law());
    const Law target = chain.target();
    if (target.size() > 100) continue;
    const Rational epsilon = context.functions.of<BoundFunctions>().full_restart_weight(
        use.space(), use.ladder(), use.restart_law());
    const FactoredKernel sweep = context.functions.of<KernelFunctions>().local_sweep(chain);
    for (std::size_t start = 0; start < target.size(); ++start) {
      const Law law = point_mass(target.size(), start);
      const Law after = sweep.apply(law);
      bool covered = true;
      for (std::size_t s = 0; s < target.size(); ++s)
        covered = covered && after[s] >= epsilon * target[s];
      count.expect(
          covered && context.functions.of<BoundFunctions>().total_variation(after, target) <=
                         (1 - epsilon) *
                             context.functions.of<BoundFunctions>().total_variation(law, target),
          use.name + ", from state " + std::to_string(start));
    }
  }
  return count.seen("sweeps of point masses");
}

/// The end of prop:fixed-stage-invariance's proof: on the four-state records with powers 1 and 2
/// the round has the flows 7/384 and 6/384 between (e, e) and (e, a e), so it is not reversible.
CheckResult round_is_not_reversible(const CheckContext& context) {
  const FixedHorizonSpace space(parse_finite_model(four_state_model, "four-state"), 2);
  const ParallelTempering chain(space, parse_ladder("1,2", "ladder"), RestartLaw::uniform(2));
  const Law target = chain.target();
  const FactoredKernel round = context.functions.of<KernelFunctions>().transition(chain, 1, 1);
  const std::size_t x = parse_joint_state(space, 2, "e|e", "X");
  const std::size_t y = parse_joint_state(space, 2, "e|a e", "Y");
  const Rational there = target[x] * round.apply(point_mass(target.size(), x))[y];
  const Rational back = target[y] * round.apply(point_mass(target.size(), y))[x];
  Count count;
  count.expect(round.apply(target) == target, "the round moves the target");
  count.expect(
      std::max(there, back) == Rational(7, 384) && std::min(there, back) == Rational(6, 384),
      "flows " + to_string(there) + " and " + to_string(back));
  CheckResult finding = count.finding("");
  if (finding.sound()) finding.detail = "flows 7/384 and 6/384 between e|e and e|a e";
  return finding;
}

/// sec:theory: for K = 1 the product target is the one sequence-level target, and exchange changes
/// nothing.
CheckResult one_rung(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const Power alpha{Rational(use.powers.back())};
    const FixedHorizonSpace space = use.space();
    const ParallelTempering chain(space, Ladder({alpha}), use.restart_law());
    const Law start = point_mass(space.size(), 0);
    const FactoredKernel local(context.functions.of<KernelFunctions>().fixed_horizon_kernel(
        space, alpha, use.restart_law()));
    count.expect(context.functions.of<KernelFunctions>().product_target(chain) ==
                     context.functions.of<RecordFunctions>().power_target(space, alpha),
                 use.name + ": the target");
    count.expect(context.functions.of<KernelFunctions>().ordered_sweep(chain).apply(start) == start,
                 use.name + ": exchange");
    count.expect(context.functions.of<KernelFunctions>().transition(chain, 1, 3).apply(start) ==
                     local.apply(start),
                 use.name + ": the round");
  }
  return count.seen("targets and rounds of one rung");
}

/// sec:compute-matched: without swaps every rung of the ladder is a single chain at its power.
CheckResult uncoupled_rungs(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    if (use.powers.size() < 2 || use.horizon > 3) continue;
    const FixedHorizonSpace space = use.space();
    const ParallelTempering chain(space, use.ladder(), use.restart_law());
    const Law after = context.functions.of<KernelFunctions>()
                          .transition(chain, 2, 0)
                          .apply(point_mass(chain.target().size(), chain.target().size() - 1));
    for (std::size_t k = 0; k < use.powers.size(); ++k) {
      const Matrix single = context.functions.of<KernelFunctions>().fixed_horizon_kernel(
          space, Power(Rational(use.powers[k])), use.restart_law());
      count.expect(
          marginal(after, chain.shape(), k) ==
              repeated(FactoredKernel(single), 2).apply(point_mass(space.size(), space.size() - 1)),
          use.name + ", rung " + std::to_string(k + 1));
    }
  }
  return count.seen("rungs without swaps");
}

}  // namespace

std::map<std::string, Check> exactness_sweep_checks() {
  return {{"one_rung", one_rung},
          {"uncoupled_rungs", uncoupled_rungs},
          {"implicit_tail", implicit_tail},
          {"epsilon_is_largest", epsilon_is_largest},
          {"never_farther", never_farther},
          {"sweep_contracts", sweep_contracts},
          {"round_is_not_reversible", round_is_not_reversible}};
}

}  // namespace tempera::lab
