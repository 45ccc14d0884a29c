#include <algorithm>

#include "lab/claims/bound_functions.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/defects/gallery.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record_count.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// Uses whose joint comparison space is quick to enumerate.
bool is_small(const ShippedUse& use) {
  const Integer single = count_comparison_records(use.model, use.horizon);
  Integer joint = 1;
  for (std::size_t k = 0; k < use.powers.size(); ++k) joint *= single;
  return joint <= 700;
}

/// L(x, B), B being the records of at most h tokens.
Rational into_short(const ComparisonSpace& space, const Matrix& kernel, std::size_t x,
                    std::size_t h) {
  Rational sum = 0;
  for (std::size_t y = 0; y < space.size(); ++y)
    if (space[y].length() <= h) sum += kernel(x, y);
  return sum;
}

/// ν(B^c).
Rational long_mass(const ComparisonSpace& space, const Law& law, std::size_t h) {
  Rational mass = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    if (space[x].length() > h) mass += law[x];
  return mass;
}

/// An ensemble on the comparison space of one use: local kernels, targets and one round.
struct Ensemble {
  Ensemble(const ShippedUse& use,
           const std::function<Matrix(const ComparisonSpace&, const Power&, const Law&)>& local)
      : space(use.model, use.horizon), round(Shape(use.powers.size(), space.size())) {
    for (const unsigned power : use.powers) {
      const Power alpha{Rational(power)};
      targets.push_back(power_target(space, alpha));
      kernels.push_back(local(space, alpha, targets.back()));
    }
    round.then_move(kernels);
    for (std::size_t k = 0; k + 1 < use.powers.size(); ++k)
      round.then_swap(k, truncating_swap_acceptance(space, Power(Rational(use.powers[k])),
                                                    Power(Rational(use.powers[k + 1]))));
  }

  /// δ, the least L_k(x, B) of all rungs and long records.
  Rational entry(std::size_t h) const {
    Rational least = 1;
    for (const Matrix& kernel : kernels)
      for (std::size_t x = 0; x < space.size(); ++x)
        if (space[x].length() > h) least = std::min(least, into_short(space, kernel, x, h));
    return least;
  }
  /// Whether B is closed under every local kernel.
  bool confined(std::size_t h) const {
    for (const Matrix& kernel : kernels)
      for (std::size_t x = 0; x < space.size(); ++x)
        if (space[x].length() <= h && into_short(space, kernel, x, h) != 1) return false;
    return true;
  }
  /// Every rung at one of the longest records: outside B^K for every h below the horizon.
  std::size_t longest() const {
    std::size_t record = 0;
    for (std::size_t x = 0; x < space.size(); ++x)
      if (space[x].length() > space[record].length()) record = x;
    return joint_state(round.from(), std::vector<std::size_t>(kernels.size(), record));
  }

  ComparisonSpace space;
  std::vector<Matrix> kernels;
  std::vector<Law> targets;
  FactoredKernel round;
};

Rational positive_part(const Rational& value) { return value > 0 ? value : Rational(0); }

/// Expects the distances of eq:ppt-joint-bias-lower and eq:ppt-output-bias-lower at threshold h,
/// from the first state and from outside B^K, where δ matters; N from 1 until all bounds have been
/// positive twice, at most 24. The bounds are computed here from b_k and δ, and those of reference/
/// must be the same. Returns how many were positive.
std::size_t expect_bounds(Count& count, const FunctionsUnderTest& functions,
                          const std::string& name, const Ensemble& ensemble, std::size_t h) {
  std::vector<RungBias> rungs;
  std::vector<Rational> excluded;
  Rational all_short = 1;
  for (std::size_t k = 0; k < ensemble.kernels.size(); ++k) {
    rungs.push_back(functions.of<BoundFunctions>().rung_bias(ensemble.space, ensemble.kernels[k],
                                                             ensemble.targets[k], h));
    excluded.push_back(long_mass(ensemble.space, ensemble.targets[k], h));
    all_short *= 1 - excluded.back();
    count.expect(rungs[k].confined && rungs[k].excluded_mass == excluded[k],
                 name + ": confinement and b_k of rung " + std::to_string(k + 1));
  }
  const Rational delta = ensemble.entry(h);
  count.expect(ensemble.confined(h) && uniform_entry(rungs) == delta, name + ": delta");
  const Law target = product_law(ensemble.targets);
  std::size_t positive = 0;
  for (const std::size_t start : {std::size_t{0}, ensemble.longest()}) {
    Law law = point_mass(target.size(), start);
    for (unsigned n = 1, after = 0; n <= 24 && after < 2; ++n) {
      law = ensemble.round.apply(law);
      const Rational long_record = Rational(rungs.size()) * integer_power(1 - delta, n);
      const Rational joint = positive_part(1 - all_short - long_record);
      const std::string where = name + ", N = " + std::to_string(n);
      count.expect(functions.of<BoundFunctions>().joint_bias_bound(rungs, n) == joint,
                   where + ": the joint bound");
      count.expect(functions.of<BoundFunctions>().total_variation(law, target) >= joint,
                   where + ": the ensemble");
      bool all_positive = joint > 0;
      for (std::size_t k = 0; k < rungs.size(); ++k) {
        const Rational bound = positive_part(excluded[k] - long_record);
        count.expect(functions.of<BoundFunctions>().output_bias_bound(rungs, k, n) == bound,
                     where + ": the rung's bound");
        count.expect(functions.of<BoundFunctions>().total_variation(
                         marginal(law, ensemble.round.from(), k), ensemble.targets[k]) >= bound,
                     where + ": rung " + std::to_string(k + 1));
        positive += bound > 0 ? 1 : 0;
        all_positive = all_positive && bound > 0;
      }
      after += all_positive ? 1 : 0;
    }
  }
  return positive;
}

/// The kernels of each use's ensemble, made by `local`, at every threshold with a long target.
template <class Local>
CheckResult bias_bounds(const CheckContext& context, Local&& local) {
  Count count;
  std::size_t positive = 0;
  for (const ShippedUse& use : context.uses) {
    if (!is_small(use)) continue;
    for (std::size_t h = 1; h < use.horizon; ++h) {
      const Ensemble ensemble(
          use, [&](const ComparisonSpace& space, const Power& power, const Law& target) {
            return local(space, power, target, h);
          });
      positive += expect_bounds(count, context.functions, use.name + ", h = " + std::to_string(h),
                                ensemble, h);
    }
  }
  count.expect(positive > 0, "no bound is positive");
  return count.finding("bounds and their terms, " + std::to_string(positive) + " positive");
}

/// The target on B, or on the long records, normalised; their first record if it has no mass.
Law law_on(const ComparisonSpace& space, const Law& target, std::size_t h, bool long_ones) {
  const Rational beyond = long_mass(space, target, h);
  const Rational mass = long_ones ? beyond : Rational(1 - beyond);
  Law law(space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    if ((space[x].length() > h) != long_ones) continue;
    if (mass == 0) return point_mass(space.size(), x);
    law[x] = target[x] / mass;
  }
  return law;
}

/// A local kernel that enters B with probability δ = 1/4 exactly and follows the target on either
/// side: what thm:ppt-structural-bias asks for and no more. With one rung its bounds are reached.
Matrix barely_confined(const ComparisonSpace& space, const Law& target, std::size_t h) {
  const Rational delta(1, 4);
  const Law within = law_on(space, target, h, false);
  const Law beyond = law_on(space, target, h, true);
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t y = 0; y < space.size(); ++y)
      kernel(x, y) =
          space[x].length() > h ? Rational(delta * within[y] + (1 - delta) * beyond[y]) : within[y];
  return kernel;
}

/// thm:ppt-structural-bias from its hypotheses alone.
CheckResult structural_bias(const CheckContext& context) {
  return bias_bounds(context, [](const ComparisonSpace& space, const Power&, const Law& target,
                                 std::size_t h) { return barely_confined(space, target, h); });
}

/// thm:ppt-structural-bias of the truncating kernel.
CheckResult truncating_bias(const CheckContext& context) {
  return bias_bounds(
      context, [&](const ComparisonSpace& space, const Power& power, const Law&, std::size_t) {
        return context.functions.of<KernelFunctions>().truncating_kernel(space, power);
      });
}

/// (ν L_k)(B^c) = ν(B^c) − D_k(ν), from the target and from the longest record; D_k by its
/// definition, φ_k = D_k(π_k) also as reference/ has it.
CheckResult crossing(const CheckContext& context) {
  Count count;
  bool crosses = false;
  for (const ShippedUse& use : context.uses) {
    if (!is_small(use)) continue;
    const ComparisonSpace space(use.model, use.horizon);
    for (const unsigned power : use.powers) {
      const Power alpha{Rational(power)};
      const Matrix kernel = context.functions.of<KernelFunctions>().truncating_kernel(space, alpha);
      const Law target = power_target(space, alpha);
      std::vector<Law> laws{target};
      for (std::size_t x = 0; x < space.size(); ++x) laws.push_back(point_mass(space.size(), x));
      for (std::size_t h = 1; h < use.horizon; ++h) {
        for (const Law& law : laws) {
          Rational accepted = 0;
          for (std::size_t x = 0; x < space.size(); ++x)
            if (space[x].length() > h) accepted += law[x] * into_short(space, kernel, x, h);
          crosses = crosses || accepted > 0;
          count.expect(long_mass(space, FactoredKernel(kernel).apply(law), h) ==
                           long_mass(space, law, h) - accepted,
                       use.name + ", h = " + std::to_string(h));
          if (&law == &laws.front())
            count.expect(
                context.functions.of<BoundFunctions>().rung_bias(space, kernel, target, h).flow ==
                    accepted,
                use.name + ": the flow at the target, h = " + std::to_string(h));
        }
      }
    }
  }
  count.expect(crosses, "no record ever crosses");
  return count.finding("laws and flows");
}

/// TV(Π P~, Π) >= (1/K) Σ φ_k, the flows summed here.
CheckResult shortening_flow(const CheckContext& context) {
  Count count;
  bool positive = false;
  for (const ShippedUse& use : context.uses) {
    if (!is_small(use)) continue;
    const Ensemble ensemble(use, [&](const ComparisonSpace& space, const Power& power, const Law&) {
      return context.functions.of<KernelFunctions>().truncating_kernel(space, power);
    });
    const Law target = product_law(ensemble.targets);
    const Rational moved = context.functions.of<BoundFunctions>().total_variation(
        ensemble.round.apply(target), target);
    for (std::size_t h = 1; h < use.horizon; ++h) {
      Rational flow = 0;
      std::vector<RungBias> rungs;
      for (std::size_t k = 0; k < ensemble.kernels.size(); ++k) {
        rungs.push_back(context.functions.of<BoundFunctions>().rung_bias(
            ensemble.space, ensemble.kernels[k], ensemble.targets[k], h));
        for (std::size_t x = 0; x < ensemble.space.size(); ++x)
          if (ensemble.space[x].length() > h)
            flow += ensemble.targets[k][x] * into_short(ensemble.space, ensemble.kernels[k], x, h);
      }
      const Rational mean = flow / Rational(rungs.size());
      count.expect(context.functions.of<BoundFunctions>().flow_bound(rungs) == mean,
                   use.name + ": the mean flow");
      count.expect(moved >= mean, use.name + ": the distance");
      positive = positive || mean > 0;
    }
  }
  count.expect(positive, "no shipped model has a shortening flow");
  return count.finding("flows and distances");
}

CheckResult truncating_one_way(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const ComparisonSpace space(use.model, use.horizon);
    const Matrix kernel = context.functions.of<KernelFunctions>().truncating_kernel(
        space, Power(Rational(use.powers.back())));
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        count.expect(kernel(x, y) == 0 || space[y].length() <= space[x].length(),
                     use.name + ": " + space.name(x) + " | " + space.name(y));
  }
  return count.finding("pairs of records");
}

/// eq:ppt-local-confinement on the four-state example, B being the records of one token.
CheckResult four_state_confinement(const CheckContext& context) {
  const ComparisonSpace space(parse_finite_model(four_state_model, "four-state"), 2);
  const Matrix kernel =
      context.functions.of<KernelFunctions>().truncating_kernel(space, Power(Rational(2)));
  Count count;
  for (std::size_t x = 0; x < space.size(); ++x)
    count.expect(
        into_short(space, kernel, x, 1) == (space[x].length() == 1 ? Rational(1) : Rational(1, 4)),
        space.name(x));
  return count.finding("records: 1/4 from the longer two, 1 from the shorter");
}

}  // namespace

std::map<std::string, Check> bias_truncation_checks() {
  return {{"structural_bias", structural_bias},
          {"truncating_bias", truncating_bias},
          {"crossing", crossing},
          {"shortening_flow", shortening_flow},
          {"truncating_one_way", truncating_one_way},
          {"four_state_confinement", four_state_confinement}};
}

}  // namespace tempera::lab
