#include "reference/kernels/swap.hpp"

#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

FactoredKernel swap_kernel(const FixedHorizonSpace& space, const Matrix& acceptance) {
  FactoredKernel kernel(Shape(2, space.size()));
  kernel.then_swap(0, acceptance);
  return kernel;
}

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix.columns(), matrix.rows());
  for (std::size_t x = 0; x < matrix.rows(); ++x) {
    for (std::size_t y = 0; y < matrix.columns(); ++y) result(y, x) = matrix(x, y);
  }
  return result;
}

}  // namespace

TEST_CASE("a likelier record moves up always, a less likely one sometimes") {
  const FixedHorizonSpace space(four_state(), 2);
  const Matrix accepted =
      swap_acceptance(power_target(space, Power(1)), power_target(space, Power(2)));
  CHECK(accepted ==
        matrix_of(
            {{q("1"), q("1"), q("1/2")}, {q("1"), q("1"), q("1/2")}, {q("1"), q("1"), q("1")}}));
}

TEST_CASE("a swap ratio with transposed powers is caught at its smallest pair") {
  const FixedHorizonSpace space(four_state(), 2);
  const Law lower = power_target(space, Power(1)), upper = power_target(space, Power(2));
  const Law target = product_law({lower, upper});
  const auto tokens = token_counts(space, 2);
  const auto defective = swap_kernel(space, transposed(swap_acceptance(lower, upper)));
  CHECK(first_violation_of_invariance(defective, target, tokens));
  const auto pair = first_violation_of_detailed_balance(defective, target, tokens);
  REQUIRE(pair);
  const auto names = joint_names(space, 2);
  CHECK(names[pair->x] == "a a|e");
  CHECK(names[pair->y] == "e|a a");
  CHECK(pair->forward_flow == Rational(1, 6));
  CHECK(pair->reverse_flow == Rational(1, 24));
}

TEST_CASE("laws of the swap") {
  law("it is (p0(x)/p0(y))^(difference of powers), and W_k is reversible", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const Ladder ladder = random::ladder(2);
    const Law lower = power_target(space, ladder[0]), upper = power_target(space, ladder[1]);
    const Matrix accepted = swap_acceptance(lower, upper);
    const Power difference(ladder[1].value() - ladder[0].value());
    for (std::size_t x = 0; x < space.size(); ++x) {  // eq:swap-acceptance-theory
      for (std::size_t y = 0; y < space.size(); ++y) {
        const Rational ratio = difference.raise(space.likelihood(x) / space.likelihood(y));
        RC_ASSERT(accepted(x, y) == (ratio < 1 ? ratio : Rational(1)));
      }
    }
    RC_ASSERT(!first_violation_of_detailed_balance(
        swap_kernel(space, accepted), product_law({lower, upper}), token_counts(space, 2)));
  });

  law("the truncating swap agrees with it where both records are in S_T", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon();
    const FixedHorizonSpace fixed(model, horizon);
    const ComparisonSpace enlarged(model, horizon);
    const Ladder ladder = random::ladder(2);
    const Matrix exact =
        swap_acceptance(power_target(fixed, ladder[0]), power_target(fixed, ladder[1]));
    const Matrix scored = truncating_swap_acceptance(enlarged, ladder[0], ladder[1]);
    for (std::size_t x = 0; x < fixed.size(); ++x) {
      for (std::size_t y = 0; y < fixed.size(); ++y) {
        RC_ASSERT(exact(x, y) ==
                  scored(*enlarged.find(fixed[x].tokens), *enlarged.find(fixed[y].tokens)));
      }
    }
  });
}
