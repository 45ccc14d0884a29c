#include <algorithm>
#include <array>

#include "lab/claims/checks.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/truncating_kernel.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// The example of Section endpoint-bias-example-condensed, states in the paper's order X_1 … X_4.
struct FourState {
  FourState()
      : model(parse_finite_model(four_state_model, "four-state")),
        fixed(model, 2),
        comparison(model, 2),
        power(Rational(2)) {}

  /// Indices of X_1 = e, X_2 = a, X_3 = a e, X_4 = a a in the comparison space.
  std::array<std::size_t, 4> paper_order() const {
    return {comparison.parse("e", "X_1"), comparison.parse("a", "X_2"),
            comparison.parse("a e", "X_3"), comparison.parse("a a", "X_4")};
  }
  Law target() const { return power_target(comparison, power); }
  /// P^fix on S_2, extended by a loop at X_2 as the paper does.
  Matrix fixed_kernel() const {
    const Matrix on_fixed = fixed_horizon_kernel(fixed, power, RestartLaw::uniform(2));
    Matrix kernel(4, 4);
    for (std::size_t x = 0; x < 4; ++x) {
      const auto from = fixed.find(comparison[x].tokens);
      if (!from) kernel(x, x) = 1;
      for (std::size_t y = 0; from && y < 4; ++y)
        if (const auto to = fixed.find(comparison[y].tokens)) kernel(x, y) = on_fixed(*from, *to);
    }
    return kernel;
  }

  FiniteModel model;
  FixedHorizonSpace fixed;
  ComparisonSpace comparison;
  Power power;
};

Verdict four_state_target(const Evidence&) {
  const FourState example;
  const auto order = example.paper_order();
  const Law base = base_law(example.comparison);
  const Law target = example.target();
  const std::array<Rational, 4> base_paper{Rational(1, 2), 0, Rational(1, 4), Rational(1, 4)};
  const std::array<Rational, 4> target_paper{Rational(2, 3), 0, Rational(1, 6), Rational(1, 6)};
  Count count;
  for (std::size_t i = 0; i < 4; ++i)
    count.expect(base[order[i]] == base_paper[i] && target[order[i]] == target_paper[i],
                 "X_" + std::to_string(i + 1));
  return count.verdict("states");
}

Verdict four_state_matrices(const Evidence&) {
  const FourState example;
  const auto order = example.paper_order();
  const auto q = [](int p, int d) { return Rational(p, d); };
  const Rational zero = 0;
  const Rational fixed_paper[4][4] = {{q(7, 8), zero, q(1, 16), q(1, 16)},
                                      {zero, Rational(1), zero, zero},
                                      {q(1, 4), zero, q(3, 8), q(3, 8)},
                                      {q(1, 4), zero, q(3, 8), q(3, 8)}};
  const Rational truncating_paper[4][4] = {{q(1, 2), q(1, 2), zero, zero},
                                           {q(1, 2), q(1, 2), zero, zero},
                                           {q(1, 4), zero, q(3, 8), q(3, 8)},
                                           {q(1, 4), zero, q(3, 8), q(3, 8)}};
  const Matrix fixed = example.fixed_kernel();
  const Matrix truncating = truncating_kernel(example.comparison, example.power);
  Count count;
  for (std::size_t x = 0; x < 4; ++x)
    for (std::size_t y = 0; y < 4; ++y)
      count.expect(fixed(order[x], order[y]) == fixed_paper[x][y] &&
                       truncating(order[x], order[y]) == truncating_paper[x][y],
                   "X_" + std::to_string(x + 1) + ", X_" + std::to_string(y + 1));
  return count.verdict("entries of both matrices of eq:condensed-fixed-kernel");
}

Verdict four_state_invariance(const Evidence&) {
  const FourState example;
  const auto order = example.paper_order();
  const auto tokens = token_counts(example.comparison);
  Count count;
  count.expect(!first_violation_of_invariance(FactoredKernel(example.fixed_kernel()),
                                              example.target(), tokens),
               "pi P^fix = pi");
  const Law moved =
      FactoredKernel(truncating_kernel(example.comparison, example.power)).apply(example.target());
  const std::array<Rational, 4> paper{Rational(5, 12), Rational(1, 3), Rational(1, 8),
                                      Rational(1, 8)};
  for (std::size_t i = 0; i < 4; ++i)
    count.expect(moved[order[i]] == paper[i], "pi P~ at X_" + std::to_string(i + 1));
  return count.verdict("equations of eq:condensed-invariance-test");
}

Verdict four_state_tv(const Evidence&) {
  const FourState example;
  const auto order = example.paper_order();
  const Law target = example.target();
  const FactoredKernel fixed(example.fixed_kernel());
  const FactoredKernel truncating(truncating_kernel(example.comparison, example.power));
  constexpr unsigned last = 60;
  Count count;
  for (const std::size_t start : {order[2], order[3]}) {
    const auto fixed_curve = total_variation_curve({fixed}, start, target, last);
    const auto curve = total_variation_curve({truncating}, start, target, last);
    Law law = point_mass(4, start);
    for (unsigned n = 0; n <= last; ++n) {
      const std::string place = "N = " + std::to_string(n);
      count.expect(fixed_curve[n] == four_state_fixed_tv(n), "fixed horizon, " + place);
      count.expect(curve[n] == four_state_truncating_tv(n), "truncating, " + place);
      if (n > 0) {
        law = truncating.apply(law);
        const Rational censored = law[order[1]];
        count.expect(censored == four_state_censored_mass(n) && curve[n] >= censored &&
                         (n < 4 || curve[n] == censored),
                     "eq:censored-mass-bound, " + place);
      }
    }
    count.expect(curve[2] == Rational(17, 48) && fixed_curve[2] == Rational(25, 96), "N = 2");
    count.expect(curve[4] == Rational(37, 128) &&
                     *std::min_element(curve.begin(), curve.end()) == curve[4] &&
                     std::count(curve.begin(), curve.end(), curve[4]) == 1,
                 "minimum at N = 4");
  }
  return count.verdict("values to N = 60, from X_3 and X_4");
}

}  // namespace

std::map<std::string, Check> four_state_checks() {
  return {{"four_state_target", four_state_target},
          {"four_state_matrices", four_state_matrices},
          {"four_state_invariance", four_state_invariance},
          {"four_state_tv", four_state_tv}};
}

}  // namespace tempera::lab
