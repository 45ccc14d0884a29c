#include <algorithm>
#include <array>

#include "lab/claims/checks.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/truncating_kernel.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// The example of Section endpoint-bias-example-condensed, states in the paper's order X_1 … X_4.
struct FourState {
  explicit FourState(const Judged& functions)
      : judged(functions),
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
    const Law on_fixed = judged.power_target(fixed, power);
    Law law(4);
    for (std::size_t x = 0; x < 4; ++x)
      if (const auto state = fixed.find(comparison[x].tokens)) law[x] = on_fixed[*state];
    return law;
  }
  /// P^fix on S_2, extended by a loop at X_2 as the paper does.
  Matrix fixed_kernel() const {
    const Matrix on_fixed = judged.fixed_horizon_kernel(fixed, power, RestartLaw::uniform(2));
    Matrix kernel(4, 4);
    for (std::size_t x = 0; x < 4; ++x) {
      const auto from = fixed.find(comparison[x].tokens);
      if (!from) kernel(x, x) = 1;
      for (std::size_t y = 0; from && y < 4; ++y)
        if (const auto to = fixed.find(comparison[y].tokens)) kernel(x, y) = on_fixed(*from, *to);
    }
    return kernel;
  }

  Matrix truncating_kernel() const { return judged.truncating_kernel(comparison, power); }

  const Judged& judged;
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

Verdict four_state_target(const Evidence& evidence) {
  const FourState example(evidence.judged);
  Count count;
  expect_law(count, example, example.target(), {Rational(2, 3), 0, Rational(1, 6), Rational(1, 6)},
             "pi");
  return count.verdict("states");
}

/// Expects a matrix of eq:condensed-fixed-kernel, given in sixteenths in the paper's order.
Verdict matrix_is(const FourState& example, const Matrix& kernel, const int (&sixteenths)[4][4]) {
  const auto order = example.paper_order();
  Count count;
  for (std::size_t x = 0; x < 4; ++x)
    for (std::size_t y = 0; y < 4; ++y)
      count.expect(kernel(order[x], order[y]) == Rational(sixteenths[x][y], 16),
                   "X_" + std::to_string(x + 1) + ", X_" + std::to_string(y + 1));
  return count.verdict("entries of eq:condensed-fixed-kernel");
}

Verdict four_state_fixed(const Evidence& evidence) {
  const FourState example(evidence.judged);
  return matrix_is(example, example.fixed_kernel(),
                   {{14, 0, 1, 1}, {0, 16, 0, 0}, {4, 0, 6, 6}, {4, 0, 6, 6}});
}

Verdict four_state_truncating(const Evidence& evidence) {
  const FourState example(evidence.judged);
  return matrix_is(example, example.truncating_kernel(),
                   {{8, 8, 0, 0}, {8, 8, 0, 0}, {4, 0, 6, 6}, {4, 0, 6, 6}});
}

Verdict four_state_invariance(const Evidence& evidence) {
  const FourState example(evidence.judged);
  const Law target = example.target();
  const Matrix kernel = example.fixed_kernel();
  Count count;
  count.expect(FactoredKernel(kernel).apply(target) == target, "pi P^fix = pi");
  const std::size_t e = example.paper_order()[0];
  count.expect(kernel(e, e) != 1, "P^fix does not move");
  Verdict verdict = count.verdict("");
  if (verdict.holds) verdict.detail = "pi P^fix = pi";
  return verdict;
}

Verdict four_state_moved(const Evidence& evidence) {
  const FourState example(evidence.judged);
  Count count;
  expect_law(count, example, FactoredKernel(example.truncating_kernel()).apply(example.target()),
             {Rational(5, 12), Rational(1, 3), Rational(1, 8), Rational(1, 8)}, "pi P~");
  return count.verdict("states of pi P~");
}

constexpr unsigned last_step = 60;

/// Judges total-variation curves to N = 60 from X_3 and X_4. `each` is called with (count, fixed,
/// truncating, the law after N = 0..60 truncating steps, the index of X_2).
template <class Each>
Verdict on_curves(const Evidence& evidence, const std::string& unit, Each&& each) {
  const FourState example(evidence.judged);
  const auto order = example.paper_order();
  const Law target = example.target();
  const FactoredKernel fixed(example.fixed_kernel());
  const FactoredKernel truncating(example.truncating_kernel());
  Count count;
  for (const std::size_t start : {order[2], order[3]}) {
    std::vector<Law> laws{point_mass(4, start)};
    for (unsigned n = 1; n <= last_step; ++n) laws.push_back(truncating.apply(laws.back()));
    each(count, evidence.judged.total_variation_curve({fixed}, start, target, last_step),
         evidence.judged.total_variation_curve({truncating}, start, target, last_step), laws,
         order[1]);
  }
  return count.verdict(unit);
}

using Curve = std::vector<Rational>;

std::string at(unsigned n) { return "N = " + std::to_string(n); }

/// eq:condensed-tv-laws: the chain, the function of reference/, and the paper's formula.
Verdict tv_law_fixed(const Evidence& evidence) {
  return on_curves(
      evidence, "values to N = 60, from X_3 and X_4",
      [&](Count& count, const Curve& fixed, const Curve&, const std::vector<Law>&, std::size_t) {
        for (unsigned n = 1; n <= last_step; ++n) {
          const Rational paper = Rational(2, 3) * integer_power(Rational(5, 8), n);
          count.expect(fixed[n] == paper, at(n));
          count.expect(evidence.judged.four_state_fixed_tv(n) == paper, "the function, " + at(n));
        }
      });
}

Verdict tv_law_truncating(const Evidence& evidence) {
  return on_curves(evidence, "values to N = 60, from X_3 and X_4",
                   [&](Count& count, const Curve&, const Curve& truncating, const std::vector<Law>&,
                       std::size_t) {
                     for (unsigned n = 1; n <= last_step; ++n) {
                       const Rational decay = integer_power(Rational(3, 4), n);
                       const Rational paper = std::max(Rational(Rational(1, 6) + decay / 3),
                                                       Rational(Rational(1, 2) - decay * 2 / 3));
                       count.expect(truncating[n] == paper, at(n));
                       count.expect(evidence.judged.four_state_truncating_tv(n) == paper,
                                    "the function, " + at(n));
                     }
                   });
}

Verdict tv_at_two(const Evidence& evidence) {
  return on_curves(evidence, "values at N = 2",
                   [](Count& count, const Curve& fixed, const Curve& truncating,
                      const std::vector<Law>&, std::size_t) {
                     count.expect(truncating[2] == Rational(17, 48), "truncating");
                     count.expect(fixed[2] == Rational(25, 96), "fixed horizon");
                   });
}

Verdict tv_minimum(const Evidence& evidence) {
  return on_curves(evidence, "values above 37/128, N to 60",
                   [](Count& count, const Curve&, const Curve& truncating, const std::vector<Law>&,
                      std::size_t) {
                     for (unsigned n = 0; n <= last_step; ++n)
                       if (n != 4) count.expect(truncating[n] > Rational(37, 128), at(n));
                   });
}

Verdict tv_at_minimum(const Evidence& evidence) {
  return on_curves(evidence, "values of 37/128 at N = 4",
                   [](Count& count, const Curve&, const Curve& truncating, const std::vector<Law>&,
                      std::size_t) { count.expect(truncating[4] == Rational(37, 128), at(4)); });
}

/// eq:censored-mass-bound: the mass on X_2 is the formula's, and the distance at least that.
Verdict censored_mass(const Evidence& evidence) {
  return on_curves(evidence, "masses and distances to N = 60",
                   [&](Count& count, const Curve&, const Curve& truncating,
                       const std::vector<Law>& laws, std::size_t censored) {
                     for (unsigned n = 1; n <= last_step; ++n) {
                       const Rational paper =
                           Rational(1, 2) - Rational(2, 3) * integer_power(Rational(3, 4), n);
                       count.expect(laws[n][censored] == paper, "mass of X_2, " + at(n));
                       count.expect(evidence.judged.four_state_censored_mass(n) == paper,
                                    "the function, " + at(n));
                       count.expect(truncating[n] >= paper, at(n));
                     }
                   });
}

Verdict censored_mass_equality(const Evidence& evidence) {
  return on_curves(evidence, "equalities, N from 4 to 60",
                   [](Count& count, const Curve&, const Curve& truncating,
                      const std::vector<Law>& laws, std::size_t censored) {
                     for (unsigned n = 4; n <= last_step; ++n)
                       count.expect(truncating[n] == laws[n][censored], at(n));
                   });
}

}  // namespace

std::map<std::string, Check> four_state_checks() {
  return {{"four_state_target", four_state_target},
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
