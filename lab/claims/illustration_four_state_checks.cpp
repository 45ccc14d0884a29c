#include <algorithm>
#include <array>

#include "gpu/core/sampler/restart_law.hpp"
#include "lab/claims/bound_functions.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/on_tables.hpp"
#include "lab/claims/paper_tables.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// The example of Section endpoint-bias-example-condensed, states in the paper's order X_1 … X_4.
struct FourState {
  explicit FourState(const FunctionsUnderTest& under_test)
      : functions(under_test),
        model(parse_finite_model(four_state_model, "four-state")),
        fixed(model, 2),
        comparison(model, 2),
        power(Rational(2)) {}

  /// Indices of X_1 = e, X_2 = a, X_3 = a e, X_4 = a a in the comparison space.
  std::array<std::size_t, 4> paper_order() const {
    return {comparison.parse("e", "X_1"), comparison.parse("a", "X_2"),
            comparison.parse("a e", "X_3"), comparison.parse("a a", "X_4")};
  }
  /// The target on S_2, extended by zero at X_2.
  Law target() const {
    const Law on_fixed = functions.of<RecordFunctions>().power_target(fixed, power);
    Law law(4);
    for (std::size_t x = 0; x < 4; ++x)
      if (const auto state = fixed.find(comparison[x].tokens)) law[x] = on_fixed[*state];
    return law;
  }
  /// P^fix on S_2, extended by a loop at X_2 as the paper does.
  Matrix fixed_kernel() const {
    const Matrix on_fixed =
        functions.of<KernelFunctions>().fixed_horizon_kernel(fixed, power, RestartLaw::uniform(2));
    Matrix kernel(4, 4);
    for (std::size_t x = 0; x < 4; ++x) {
      const auto from = fixed.find(comparison[x].tokens);
      if (!from) kernel(x, x) = 1;
      for (std::size_t y = 0; from && y < 4; ++y)
        if (const auto to = fixed.find(comparison[y].tokens)) kernel(x, y) = on_fixed(*from, *to);
    }
    return kernel;
  }

  Matrix truncating_kernel() const {
    return functions.of<KernelFunctions>().truncating_kernel(comparison, power);
  }

  const FunctionsUnderTest& functions;
  FiniteModel model;
  FixedHorizonSpace fixed;
  ComparisonSpace comparison;
  Power power;
};

/// Expects a law in the paper's order.
void expect_law(Count& count, const FourState& example, const Law& law,
                const std::array<Rational, 4>& paper, const std::string& what) {
  const auto order = example.paper_order();
  for (std::size_t i = 0; i < 4; ++i)
    count.expect(law[order[i]] == paper[i], what + " at X_" + std::to_string(i + 1));
}

CheckResult four_state_target(const CheckContext& context) {
  const FourState example(context.functions);
  Count count;
  expect_law(count, example, example.target(), {Rational(2, 3), 0, Rational(1, 6), Rational(1, 6)},
             "pi");
  return count.finding("states");
}

/// Expects a matrix of eq:condensed-fixed-kernel, given in sixteenths in the paper's order.
CheckResult matrix_is(const FourState& example, const Matrix& kernel,
                      const int (&sixteenths)[4][4]) {
  const auto order = example.paper_order();
  Count count;
  for (std::size_t x = 0; x < 4; ++x)
    for (std::size_t y = 0; y < 4; ++y)
      count.expect(kernel(order[x], order[y]) == Rational(sixteenths[x][y], 16),
                   "X_" + std::to_string(x + 1) + ", X_" + std::to_string(y + 1));
  return count.finding("entries of eq:condensed-fixed-kernel");
}

CheckResult four_state_fixed(const CheckContext& context) {
  const FourState example(context.functions);
  return matrix_is(example, example.fixed_kernel(),
                   {{14, 0, 1, 1}, {0, 16, 0, 0}, {4, 0, 6, 6}, {4, 0, 6, 6}});
}

CheckResult four_state_truncating(const CheckContext& context) {
  const FourState example(context.functions);
  return matrix_is(example, example.truncating_kernel(),
                   {{8, 8, 0, 0}, {8, 8, 0, 0}, {4, 0, 6, 6}, {4, 0, 6, 6}});
}

CheckResult four_state_invariance(const CheckContext& context) {
  const FourState example(context.functions);
  const Law target = example.target();
  const Matrix kernel = example.fixed_kernel();
  Count count;
  count.expect(FactoredKernel(kernel).apply(target) == target, "pi P^fix = pi");
  const std::size_t e = example.paper_order()[0];
  count.expect(kernel(e, e) != 1, "P^fix does not move");
  CheckResult finding = count.finding("");
  if (finding.sound()) finding.detail = "pi P^fix = pi";
  return finding;
}

CheckResult four_state_moved(const CheckContext& context) {
  const FourState example(context.functions);
  Count count;
  expect_law(count, example, FactoredKernel(example.truncating_kernel()).apply(example.target()),
             {Rational(5, 12), Rational(1, 3), Rational(1, 8), Rational(1, 8)}, "pi P~");
  return count.finding("states of pi P~");
}

constexpr unsigned last_step = 60;

/// Judges total-variation curves to N = 60 from X_3 and X_4. `each` is called with (count, fixed,
/// truncating, the law after N = 0..60 truncating steps, the index of X_2).
template <class Each>
CheckResult on_curves(const CheckContext& context, const std::string& unit, Each&& each) {
  const FourState example(context.functions);
  const auto order = example.paper_order();
  const Law target = example.target();
  const FactoredKernel fixed(example.fixed_kernel());
  const FactoredKernel truncating(example.truncating_kernel());
  Count count;
  for (const std::size_t start : {order[2], order[3]}) {
    std::vector<Law> laws{point_mass(4, start)};
    for (unsigned n = 1; n <= last_step; ++n) laws.push_back(truncating.apply(laws.back()));
    each(count,
         context.functions.of<BoundFunctions>().total_variation_curve({fixed}, start, target,
                                                                      last_step),
         context.functions.of<BoundFunctions>().total_variation_curve({truncating}, start, target,
                                                                      last_step),
         laws, order[1]);
  }
  return count.finding(unit);
}

using Curve = std::vector<Rational>;

std::string at(unsigned n) { return "N = " + std::to_string(n); }

/// eq:condensed-tv-laws: the chain, the function of reference/, and the paper's formula.
CheckResult tv_law_fixed(const CheckContext& context) {
  return on_curves(
      context, "values to N = 60, from X_3 and X_4",
      [&](Count& count, const Curve& fixed, const Curve&, const std::vector<Law>&, std::size_t) {
        for (unsigned n = 1; n <= last_step; ++n) {
          const Rational paper = Rational(2, 3) * integer_power(Rational(5, 8), n);
          count.expect(fixed[n] == paper, at(n));
          count.expect(context.functions.of<BoundFunctions>().four_state_fixed_tv(n) == paper,
                       "the function, " + at(n));
        }
      });
}

CheckResult tv_law_truncating(const CheckContext& context) {
  return on_curves(
      context, "values to N = 60, from X_3 and X_4",
      [&](Count& count, const Curve&, const Curve& truncating, const std::vector<Law>&,
          std::size_t) {
        for (unsigned n = 1; n <= last_step; ++n) {
          const Rational decay = integer_power(Rational(3, 4), n);
          const Rational paper = std::max(Rational(Rational(1, 6) + decay / 3),
                                          Rational(Rational(1, 2) - decay * 2 / 3));
          count.expect(truncating[n] == paper, at(n));
          count.expect(context.functions.of<BoundFunctions>().four_state_truncating_tv(n) == paper,
                       "the function, " + at(n));
        }
      });
}

CheckResult tv_at_two(const CheckContext& context) {
  return on_curves(context, "values at N = 2",
                   [](Count& count, const Curve& fixed, const Curve& truncating,
                      const std::vector<Law>&, std::size_t) {
                     count.expect(truncating[2] == Rational(17, 48), "truncating");
                     count.expect(fixed[2] == Rational(25, 96), "fixed horizon");
                   });
}

CheckResult tv_minimum(const CheckContext& context) {
  return on_curves(context, "values above 37/128, N to 60",
                   [](Count& count, const Curve&, const Curve& truncating, const std::vector<Law>&,
                      std::size_t) {
                     for (unsigned n = 0; n <= last_step; ++n)
                       if (n != 4) count.expect(truncating[n] > Rational(37, 128), at(n));
                   });
}

CheckResult tv_at_minimum(const CheckContext& context) {
  return on_curves(context, "values of 37/128 at N = 4",
                   [](Count& count, const Curve&, const Curve& truncating, const std::vector<Law>&,
                      std::size_t) { count.expect(truncating[4] == Rational(37, 128), at(4)); });
}

/// eq:censored-mass-bound: the mass on X_2 is the formula's, and the distance at least that.
CheckResult censored_mass(const CheckContext& context) {
  return on_curves(
      context, "masses and distances to N = 60",
      [&](Count& count, const Curve&, const Curve& truncating, const std::vector<Law>& laws,
          std::size_t censored) {
        for (unsigned n = 1; n <= last_step; ++n) {
          const Rational paper = Rational(1, 2) - Rational(2, 3) * integer_power(Rational(3, 4), n);
          count.expect(laws[n][censored] == paper, "mass of X_2, " + at(n));
          count.expect(context.functions.of<BoundFunctions>().four_state_censored_mass(n) == paper,
                       "the function, " + at(n));
          count.expect(truncating[n] >= paper, at(n));
        }
      });
}

CheckResult censored_mass_equality(const CheckContext& context) {
  return on_curves(context, "equalities, N from 4 to 60",
                   [](Count& count, const Curve&, const Curve& truncating,
                      const std::vector<Law>& laws, std::size_t censored) {
                     for (unsigned n = 4; n <= last_step; ++n)
                       count.expect(truncating[n] == laws[n][censored], at(n));
                   });
}

/// fig:condensed-tv-summary: each printed value is the exact one rounded to five decimals.
CheckResult printed_decimals(const CheckContext& context) {
  return on_tables(context, "printed decimals", [&](Count& count, const PaperTables& tables) {
    const FourState example(context.functions);
    const std::size_t start = example.paper_order()[3];
    const auto curve = [&](const Matrix& kernel) {
      return context.functions.of<BoundFunctions>().total_variation_curve(
          {FactoredKernel(kernel)}, start, example.target(), 10);
    };
    const auto fixed = curve(example.fixed_kernel());
    const auto truncating = curve(example.truncating_kernel());
    const PaperTable& table = tables.at("fig:condensed-tv-summary");
    for (const auto& [row, entries] : table.groups.at("four-state")) {
      const auto n = table.entry("four-state", row, "N").convert_to<std::size_t>();
      const auto rounded = [&](const Rational& exact, const std::string& column) {
        count.expect(200000 * abs(exact - table.entry("four-state", row, column)) <= 1,
                     column + ", " + row);
      };
      rounded(fixed[n], "Fixed horizon");
      rounded(truncating[n], "Unbalanced");
    }
  });
}

/// sec:fixed-horizon: from X_1 the fixed-horizon update returns to a two-token record with
/// probability 1/8, the unbalanced one never.
CheckResult back_with_an_eighth(const CheckContext& context) {
  const FourState example(context.functions);
  const auto order = example.paper_order();
  const Matrix fixed = example.fixed_kernel(), truncating = example.truncating_kernel();
  Count count;
  count.expect(fixed(order[0], order[2]) + fixed(order[0], order[3]) == Rational(1, 8), "P^fix");
  count.expect(truncating(order[0], order[2]) + truncating(order[0], order[3]) == 0, "P~");
  return count.finding("ways back");
}

/// sec:endpoint-bias-example-condensed: [1/3 - (3/4)^N]_+ is below the distance, strictly.
CheckResult length_only_bound(const CheckContext& context) {
  return on_curves(
      context, "bounds to N = 60",
      [&](Count& count, const Curve&, const Curve& truncating, const std::vector<Law>&,
          std::size_t) {
        const ComparisonSpace space(parse_finite_model(four_state_model, "four-state"), 2);
        const std::vector<RungBias> rungs{context.functions.of<BoundFunctions>().rung_bias(
            space,
            context.functions.of<KernelFunctions>().truncating_kernel(space, Power(Rational(2))),
            reference::power_target(space, Power(Rational(2))), 1)};
        for (unsigned n = 1; n <= last_step; ++n) {
          const Rational left = Rational(1, 3) - integer_power(Rational(3, 4), n);
          const Rational bound = left > 0 ? left : Rational(0);
          count.expect(
              context.functions.of<BoundFunctions>().output_bias_bound(rungs, 0, n) == bound,
              at(n));
          count.expect(truncating[n] > bound, "the distance, " + at(n));
        }
      });
}

/// sec:endpoint-bias-example-condensed: from N = 4 on every valid record has at most its target
/// mass; at N = 3 one has more.
CheckResult valid_masses(const CheckContext& context) {
  return of_cases_tried(on_curves(context, "laws, N from 3 to 60",
                                  [&](Count& count, const Curve&, const Curve&,
                                      const std::vector<Law>& laws, std::size_t censored) {
                                    const Law target = FourState(context.functions).target();
                                    for (unsigned n = 3; n <= last_step; ++n) {
                                      bool within = true;
                                      for (std::size_t x = 0; x < target.size(); ++x)
                                        within =
                                            within && (x == censored || laws[n][x] <= target[x]);
                                      count.expect(within == (n >= 4), at(n));
                                    }
                                  }));
}

/// sec:endpoint-bias-example-condensed: the unbalanced error falls to N = 4, then rises at every
/// step; and the kernel does not keep the target meanwhile.
CheckResult falls_then_rises(const CheckContext& context) {
  return of_cases_tried(on_curves(context, "steps to N = 60",
                                  [](Count& count, const Curve&, const Curve& truncating,
                                     const std::vector<Law>&, std::size_t) {
                                    for (unsigned n = 0; n < last_step; ++n)
                                      count.expect(n < 4 ? truncating[n + 1] < truncating[n]
                                                         : truncating[n + 1] > truncating[n],
                                                   at(n + 1));
                                  }));
}

/// The self-loop at X_2 in P^fix is unreachable; P~ reaches it.
CheckResult censored_unreachable(const CheckContext& context) {
  const FourState example(context.functions);
  const auto order = example.paper_order();
  const Matrix fixed = example.fixed_kernel();
  Count count;
  for (const std::size_t i : {0U, 2U, 3U})
    count.expect(fixed(order[i], order[1]) == 0, "from X_" + std::to_string(i + 1));
  count.expect(fixed(order[1], order[1]) == 1, "X_2 has no self-loop");
  count.expect(example.truncating_kernel()(order[0], order[1]) > 0, "P~ does not reach X_2");
  return count.finding("entries of the column of X_2");
}

/// eq:condensed-finite-summary, its base law, Z = 3/8, q^full = p_{0,2} and not π, and the full
/// restart's acceptance 1 ∧ p_{0,2}(y) / p_{0,2}(x).
CheckResult full_restart_example(const CheckContext& context) {
  const FourState example(context.functions);
  const Law base = context.functions.of<RecordFunctions>().base_law(example.fixed);
  const Law target =
      context.functions.of<RecordFunctions>().power_target(example.fixed, example.power);
  const SuffixLaw q =
      context.functions.of<RecordFunctions>().suffix_proposal(example.fixed, example.power);
  const Matrix restart = context.functions.of<KernelFunctions>().fixed_horizon_kernel_at(
      example.fixed, example.power, 1);
  Count count;
  Rational normalizer = 0;
  for (const Rational& mass : base) normalizer += mass * mass;
  count.expect(normalizer == Rational(3, 8), "Z is " + to_string(normalizer));
  bool differs = false;
  for (std::size_t y = 0; y < base.size(); ++y) {
    count.expect(base[y] == (example.fixed[y].length() == 1 ? Rational(1, 2) : Rational(1, 4)),
                 "p0 of " + example.fixed.name(y));
    count.expect(q(1, 0, y) == base[y], "q^full of " + example.fixed.name(y));
    differs = differs || base[y] != target[y];
    for (std::size_t x = 0; x < base.size(); ++x)
      if (x != y)
        count.expect(restart(x, y) == base[y] * std::min(Rational(1), Rational(base[y] / base[x])),
                     example.fixed.name(x) + " | " + example.fixed.name(y));
  }
  count.expect(differs, "q^full is the target");
  return count.finding("values of the base law and the full restart");
}

/// Hit capacity, the share of records without a terminal token, of the example: 1/6 under the
/// target; 1/2 under the law that the unbalanced chain keeps.
CheckResult hit_capacity_example(const CheckContext& context) {
  const FourState example(context.functions);
  const auto order = example.paper_order();
  const auto without_end = [&](const Law& law) {
    Rational mass = 0;
    for (std::size_t x = 0; x < law.size(); ++x)
      if (!example.comparison[x].terminated) mass += law[x];
    return mass;
  };
  Law kept(4);
  kept[order[0]] = kept[order[1]] = Rational(1, 2);
  Count count;
  count.expect(without_end(example.target()) == Rational(1, 6), "under the target");
  count.expect(FactoredKernel(example.truncating_kernel()).apply(kept) == kept, "the kept law");
  count.expect(without_end(kept) == Rational(1, 2), "under the kept law");
  count.expect(FactoredKernel(example.fixed_kernel()).apply(example.target()) == example.target(),
               "the target moves");
  return count.finding("shares and laws");
}

}  // namespace

std::map<std::string, Check> illustration_four_state_checks() {
  return {{"printed_decimals", printed_decimals},
          {"back_with_an_eighth", back_with_an_eighth},
          {"length_only_bound", length_only_bound},
          {"valid_masses", valid_masses},
          {"falls_then_rises", falls_then_rises},
          {"censored_unreachable", censored_unreachable},
          {"full_restart_example", full_restart_example},
          {"hit_capacity_example", hit_capacity_example},
          {"four_state_target", four_state_target},
          {"four_state_fixed", four_state_fixed},
          {"four_state_truncating", four_state_truncating},
          {"four_state_invariance", four_state_invariance},
          {"four_state_moved", four_state_moved},
          {"tv_law_fixed", tv_law_fixed},
          {"tv_law_truncating", tv_law_truncating},
          {"tv_at_two", tv_at_two},
          {"tv_minimum", tv_minimum},
          {"tv_at_minimum", tv_at_minimum},
          {"censored_mass", censored_mass},
          {"censored_mass_equality", censored_mass_equality}};
}

}  // namespace tempera::lab
