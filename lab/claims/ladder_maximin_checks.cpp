#include <algorithm>

#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/ladder_design.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

std::vector<Rational> values(const Ladder& ladder) {
  std::vector<Rational> powers;
  for (std::size_t k = 0; k < ladder.rungs(); ++k) powers.push_back(ladder[k].value());
  return powers;
}

/// A template of one spread: its powers from the paper's formula.
struct Template {
  Spread spread;
  std::vector<Rational> powers;

  std::size_t rungs() const { return powers.size(); }
  Power lowest() const { return Power(powers.front()); }
  Power highest() const { return Power(powers.back()); }
  std::string name() const {
    return std::to_string(rungs()) + " rungs from " + to_string(powers.front()) + " to " +
           to_string(powers.back());
  }
};

/// Arithmetic and geometric ladders of 2 to 5 rungs.
std::vector<Template> templates() {
  std::vector<Template> all;
  for (const unsigned rungs : {2U, 3U, 4U, 5U})
    for (const unsigned lowest : {1U, 2U})
      for (const unsigned step : {2U, 3U}) {
        Template arithmetic{Spread::constant, {}};
        Template geometric{Spread::inverse_to_power, {}};
        for (unsigned k = 0; k < rungs; ++k) {
          arithmetic.powers.emplace_back(lowest + k * step);
          geometric.powers.push_back(Rational(lowest) * integer_power(Rational(step), k));
        }
        all.push_back(arithmetic);
        all.push_back(geometric);
      }
  return all;
}

/// eq:arithmetic-geometric-ladders: the template is its formula, and its neighbours are equally far
/// apart: by their difference if the spread is constant, by their ratio if it is 1/α.
CheckResult ladder_templates(const CheckContext& context) {
  Count count;
  for (const Template& expected : templates()) {
    const Ladder ladder = context.functions.of<LadderFunctions>().equal_distance_ladder(
        expected.spread, expected.lowest(), expected.highest(), expected.rungs());
    count.expect(values(ladder) == expected.powers, expected.name());
    const Rational first = expected.spread == Spread::constant
                               ? expected.powers[1] - expected.powers[0]
                               : expected.powers[1] / expected.powers[0];
    for (std::size_t k = 0; k + 1 < ladder.rungs(); ++k)
      count.expect(context.functions.of<LadderFunctions>().thermodynamic_gap(
                       expected.spread, ladder[k], ladder[k + 1]) == first,
                   expected.name() + ": the gap above rung " + std::to_string(k + 1));
  }
  return count.finding("ladders of both templates and their gaps");
}

/// eq:maximin-ladder-problem over the template's powers and the middles between them. That every
/// other choice has a weaker edge is seen by trying them all.
CheckResult maximin_problem(const CheckContext& context) {
  Count count;
  for (const Template& expected : templates()) {
    const auto quality = [&](const Power& lower, const Power& upper) {
      return Rational(-context.functions.of<LadderFunctions>().thermodynamic_gap(expected.spread,
                                                                                 lower, upper));
    };
    std::vector<Power> candidates{expected.lowest()};
    for (std::size_t k = 1; k < expected.rungs(); ++k) {
      candidates.emplace_back((expected.powers[k - 1] + expected.powers[k]) / 2);
      candidates.emplace_back(expected.powers[k]);
    }
    const auto best = context.functions.of<LadderFunctions>().maximin_ladder(
        candidates, expected.rungs(), quality);
    count.expect(values(best.ladder) == expected.powers && best.solutions == 1, expected.name());
    // A mask says which of the candidates between the ends are rungs.
    const std::size_t between = candidates.size() - 2;
    for (std::size_t mask = 0; mask < std::size_t{1} << between; ++mask) {
      std::vector<Power> rungs{candidates.front()};
      for (std::size_t i = 0; i < between; ++i)
        if ((mask >> i & 1U) != 0) rungs.push_back(candidates[i + 1]);
      rungs.push_back(candidates.back());
      if (rungs.size() != expected.rungs() || values(Ladder(rungs)) == expected.powers) continue;
      Rational weakest = quality(rungs[0], rungs[1]);
      for (std::size_t k = 1; k + 1 < rungs.size(); ++k)
        weakest = std::min(weakest, quality(rungs[k], rungs[k + 1]));
      count.expect(weakest < best.weakest, expected.name() + ": another is at least as strong");
    }
  }
  return count.finding("ladders, each against every other");
}

/// eq:theory-stage-targets: at every stage of blocks of one and two tokens the round preserves Π_m,
/// whose last is Π_T.
CheckResult stage_targets(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const Ladder ladder = use.ladder();
    const Law last = ParallelTempering(use.space(), ladder, use.restart_law()).target();
    for (const std::size_t block : {1U, 2U}) {
      const auto horizons = stage_horizons(use.horizon, block);
      for (std::size_t m = 1; m <= horizons.size(); ++m) {
        const FixedHorizonSpace space(use.model, horizons[m - 1]);
        const ParallelTempering kernels(space, ladder, RestartLaw::uniform(horizons[m - 1]));
        const Law target = context.functions.of<KernelFunctions>().stage_target(
            use.model, use.horizon, block, ladder, m);
        const std::string what = use.name + ", stage " + std::to_string(m);
        count.expect(
            context.functions.of<KernelFunctions>().transition(kernels, 1, 1).apply(target) ==
                target,
            what);
        count.expect(m < horizons.size() || target == last, what + " is the last");
      }
    }
  }
  return count.finding("equations of stage targets");
}

}  // namespace

std::map<std::string, Check> ladder_maximin_checks() {
  return {{"ladder_templates", ladder_templates},
          {"maximin_problem", maximin_problem},
          {"stage_targets", stage_targets}};
}

}  // namespace tempera::lab
