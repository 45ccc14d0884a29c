// What the paper says beside its theorems: of figures, of what an assumption is for, of what a
// count of zero does.
#include <algorithm>

#include "lab/claims/bound_functions.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/claims/truncated_metropolis.hpp"
#include "lab/defects/kernel_gallery.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// fig:placeholder: its flat, low-power chain is p^α_2 and its sharp, high-power chain p^α_1, while
/// 1 <= α_1 < … < α_K. The flatter of two targets has the smaller greatest mass.
CheckResult figure_powers(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    if (use.powers.size() < 2) continue;
    const FixedHorizonSpace space = use.space();
    const auto greatest_mass = [&](std::size_t k) {
      const Law target = context.functions.of<RecordFunctions>().power_target(
          space, Power(Rational(use.powers[k])));
      return *std::max_element(target.begin(), target.end());
    };
    const Rational first = greatest_mass(0), second = greatest_mass(1);
    if (first == second) continue;
    count.expect(second < first, use.name + ", T = " + std::to_string(use.horizon) +
                                     ": the greatest mass is " + to_string(first) +
                                     " under alpha_1 and " + to_string(second) + " under alpha_2");
  }
  return count.seen("ladders");
}

/// apx:ablation, "the terminal position is effectively frozen after a few updates": of a record of
/// one token the truncating kernel freezes the length, and not whether its token is terminal.
CheckResult terminal_frozen(const CheckContext& context) {
  Count count;
  const ComparisonSpace space(parse_finite_model(four_state_model, "four-state"), 2);
  const Matrix kernel =
      context.functions.of<KernelFunctions>().truncating_kernel(space, Power(Rational(2)));
  const std::size_t e = space.parse("e", "record"), a = space.parse("a", "record");
  count.expect(kernel(e, a) == 0 || kernel(a, e) == 0,
               "an update of the four-state example goes from (e) to (a) with probability " +
                   to_string(kernel(e, a)) + ", and back with " + to_string(kernel(a, e)));
  return count.seen("records of one token");
}

/// sec:fixed-horizon-convergence, "q_full(y) > 0 for every y in S_T": it always is.
CheckResult full_restart_positive(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    for (const unsigned power : use.powers) {
      const SuffixLaw q =
          context.functions.of<RecordFunctions>().suffix_proposal(space, Power(Rational(power)));
      bool is_positive = true;
      for (std::size_t y = 0; y < space.size(); ++y) is_positive = is_positive && q(1, 0, y) > 0;
      count.expect(is_positive, use.name + ", power " + std::to_string(power));
    }
  }
  return count.seen("full-restart proposals");
}

/// eq:ppt-local-confinement: a proposal that is possible need not be accepted. Of the paper's own
/// truncating kernel it always can be; of exact Metropolis-Hastings on the same proposals a shorter
/// record never is.
CheckResult proposing_and_entering(const CheckContext& context) {
  Count count;
  bool never_enters = false, own_never_enters = false;
  const auto& kernels = context.functions.of<KernelFunctions>();
  for (const ShippedUse& use : context.uses) {
    const ComparisonSpace space(use.model, use.horizon);
    if (space.size() > 60) continue;
    const Power alpha{Rational(use.powers.back())};
    const Matrix own = kernels.truncating_kernel(space, alpha);
    const Matrix exact = kernels.truncated_metropolis(space, alpha);
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y) {
        if (space[y].length() >= space[x].length()) continue;
        if (kernels.truncated_proposal(space, alpha, x, y) == 0) continue;
        never_enters = never_enters || exact(x, y) == 0;
        own_never_enters = own_never_enters || own(x, y) == 0;
      }
  }
  count.expect(never_enters, "every proposal of a shorter record can be accepted");
  count.expect_without(own_never_enters,
                       "the truncating kernel accepts each with some probability");
  return count.finding("kernel that proposes shorter records and accepts none");
}

/// subsec:implementation-local: with one stream of words for all rungs a local sweep moves Π.
CheckResult independent_randomness(const CheckContext& context) {
  Count count;
  const FiniteModel model = parse_finite_model(four_state_model, "four-state");
  const Power low{Rational(2)}, high{Rational(3)};
  const ParallelTempering chain(FixedHorizonSpace(model, 2), Ladder({low, high}),
                                RestartLaw::uniform(2));
  const Law target = context.functions.of<KernelFunctions>().product_target(chain);
  count.expect(context.functions.of<KernelFunctions>().local_sweep(chain).apply(target) == target,
               "the sweep of independent updates moves the target");
  const auto defects = planted_in_rounds();
  const auto shared = std::find_if(defects.begin(), defects.end(), [](const PlantedDefect& one) {
    return one.name == "the same random stream in every call";
  });
  count.require(shared != defects.end(), "there is no kernel of one stream");
  if (shared == defects.end()) return count.finding("sweeps");
  const JudgedCase judged(model, 2, {{low, high}, {}});
  const KernelVerdict verdict = judge_kernel(shared->kernel, judged);
  Rational before = 0, after = 0;
  const std::size_t ended = *judged.find({{*model.find_token("e")}, {*model.find_token("e")}});
  for (std::size_t x = 0; x < judged.size(); ++x)
    after += judged.law()[x] * verdict.matrix(x, ended);
  before = judged.law()[ended];
  count.expect(verdict.stochastic() && before == Rational(8, 15) && after == Rational(17, 30),
               "(e, e) goes from " + to_string(before) + " to " + to_string(after));
  return count.finding("sweeps");
}

/// thm:fixed-horizon-convergence, "n_local >= 1": without local moves a round only exchanges the
/// records that there are.
CheckResult zero_local_moves(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    if (use.powers.size() < 2 || use.horizon > 3) continue;
    const ParallelTempering chain(use.space(), use.ladder(), RestartLaw::uniform(use.horizon));
    const Law target = chain.target();
    if (target.size() == 1) continue;
    const FactoredKernel round = context.functions.of<KernelFunctions>().transition(chain, 0, 1);
    // All rungs hold the first record.
    Law law = point_mass(target.size(), 0);
    const Rational initial = context.functions.of<BoundFunctions>().total_variation(law, target);
    for (unsigned n = 1; n <= 3; ++n) law = round.apply(law);
    count.expect(initial > 0 &&
                     context.functions.of<BoundFunctions>().total_variation(law, target) == initial,
                 use.name);
  }
  return count.seen("ensembles that keep their distance");
}

/// The bound of thm:fixed-horizon-convergence with n_local sweeps a round: (1 − ε)^(N n_local),
/// which is below the printed (1 − ε)^N.
CheckResult sweeps_in_bound(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const ParallelTempering chain(use.space(), use.ladder(), use.restart_law());
    const Law target = chain.target();
    if (target.size() > 100) continue;
    const Rational epsilon = context.functions.of<BoundFunctions>().full_restart_weight(
        use.space(), use.ladder(), use.restart_law());
    for (const unsigned moves : {2U, 3U}) {
      const FactoredKernel round = context.functions.of<KernelFunctions>().transition(
          chain, moves, use.powers.size() > 1 ? 1 : 0);
      for (const std::size_t start : {std::size_t{0}, target.size() - 1}) {
        Law law = point_mass(target.size(), start);
        const Rational initial =
            context.functions.of<BoundFunctions>().total_variation(law, target);
        for (unsigned n = 1; n <= 3; ++n) {
          law = round.apply(law);
          const auto bound = [&](unsigned rounds) {
            return context.functions.of<BoundFunctions>().convergence_bound(epsilon, rounds,
                                                                            initial);
          };
          const std::string where =
              use.name + ", n_local = " + std::to_string(moves) + ", N = " + std::to_string(n);
          count.expect(context.functions.of<BoundFunctions>().total_variation(law, target) <=
                           bound(n * moves),
                       where);
          count.expect(bound(n * moves) < bound(n) || epsilon == 0 || epsilon == 1 || initial == 0,
                       where + ": no less than the printed one");
        }
      }
    }
  }
  return count.seen("laws");
}

}  // namespace

std::map<std::string, Check> exactness_remarks_checks() {
  return {{"figure_powers", figure_powers},
          {"terminal_frozen", terminal_frozen},
          {"full_restart_positive", full_restart_positive},
          {"proposing_and_entering", proposing_and_entering},
          {"independent_randomness", independent_randomness},
          {"zero_local_moves", zero_local_moves},
          {"sweeps_in_bound", sweeps_in_bound}};
}

}  // namespace tempera::lab
