#include "lab/claims/checks.hpp"
#include "reference/analysis/ladder_design.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/progressive.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

std::vector<Rational> values(const Ladder& ladder) {
  std::vector<Rational> powers;
  for (std::size_t k = 0; k < ladder.rungs(); ++k) powers.push_back(ladder[k].value());
  return powers;
}

/// eq:arithmetic-geometric-ladders and eq:maximin-ladder-problem: either template from its formula,
/// and as the one solution of the max-min problem over its powers and the middles between them.
Verdict ladder_templates(const Evidence&) {
  Count count;
  for (const unsigned rungs : {2U, 3U, 4U, 5U})
    for (const unsigned lowest : {1U, 2U})
      for (const unsigned step : {2U, 3U}) {
        std::vector<Rational> arithmetic, geometric;
        for (unsigned k = 0; k < rungs; ++k) {
          arithmetic.emplace_back(lowest + k * step);
          geometric.push_back(Rational(lowest) * integer_power(Rational(step), k));
        }
        for (const Spread spread : {Spread::constant, Spread::inverse_to_power}) {
          const auto& expected = spread == Spread::constant ? arithmetic : geometric;
          const std::string what = std::to_string(rungs) + " rungs from " +
                                   to_string(expected.front()) + " to " +
                                   to_string(expected.back());
          const Ladder ladder =
              equal_distance_ladder(spread, Power(expected.front()), Power(expected.back()), rungs);
          count.expect(values(ladder) == expected, what);
          std::vector<Power> candidates{ladder[0]};
          for (std::size_t k = 1; k < rungs; ++k) {
            candidates.emplace_back((expected[k - 1] + expected[k]) / 2);
            candidates.push_back(ladder[k]);
          }
          const auto best =
              maximin_ladder(candidates, rungs, [&](const Power& lower, const Power& upper) {
                return Rational(-thermodynamic_gap(spread, lower, upper));
              });
          count.expect(values(best.ladder) == expected && best.solutions == 1,
                       "max-min with " + what);
        }
      }
  return count.verdict("ladders of both templates");
}

/// eq:theory-stage-targets: at every stage of blocks of one and two tokens the round preserves Π_m,
/// whose last is Π_T.
Verdict stage_targets(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const Ladder ladder = use.ladder();
    const Law last = ParallelTempering(use.space(), ladder, use.restart_law()).target();
    for (const std::size_t block : {1U, 2U}) {
      const auto horizons = stage_horizons(use.horizon, block);
      for (std::size_t m = 1; m <= horizons.size(); ++m) {
        const FixedHorizonSpace space(use.model, horizons[m - 1]);
        const ParallelTempering kernels(space, ladder, RestartLaw::uniform(horizons[m - 1]));
        const Law target = stage_target(use.model, use.horizon, block, ladder, m);
        const std::string what = use.name + ", stage " + std::to_string(m);
        count.expect(kernels.transition(1, 1).apply(target) == target, what);
        count.expect(m < horizons.size() || target == last, what + " is the last");
      }
    }
  }
  return count.verdict("equations of stage targets");
}

}  // namespace

std::map<std::string, Check> ladder_checks() {
  return {{"ladder_templates", ladder_templates}, {"stage_targets", stage_targets}};
}

}  // namespace tempera::lab
