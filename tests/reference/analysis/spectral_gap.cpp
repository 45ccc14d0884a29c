#include "reference/analysis/spectral_gap.hpp"

#include <stdexcept>

#include "reference/analysis/four_state.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/catch.hpp"
#include "tests/reference/four_state.hpp"

using namespace tempera::reference;

namespace {

bool holds(const Bracket& bracket, const Rational& value) {
  return bracket.lower <= value && value <= bracket.upper;
}

}  // namespace

TEST_CASE("eigenvalues are counted with their multiplicities") {
  // 1, 2/5 and 2/5.
  const Rational a(3, 5), b(1, 5);
  const Matrix kernel = matrix_of({{a, b, b}, {b, a, b}, {b, b, a}});
  const Law even(3, Rational(1, 3));
  CHECK(eigenvalues_above(kernel, even, 1) == 0);
  CHECK(eigenvalues_above(kernel, even, Rational(1, 2)) == 1);
  CHECK(eigenvalues_above(kernel, even, Rational(2, 5)) == 1);
  CHECK(eigenvalues_above(kernel, even, Rational(2, 5) - Rational(1, 1000)) == 3);
}

TEST_CASE("a form whose diagonal vanishes is counted all the same") {
  // The flip, of eigenvalues 1 and -1.
  const Matrix flip = matrix_of({{0, 1}, {1, 0}});
  const Law even(2, Rational(1, 2));
  CHECK(eigenvalues_above(flip, even, 0) == 1);
  CHECK(eigenvalues_above(flip, even, -2) == 2);
  CHECK(holds(second_eigenvalue(flip, even, 10), -1));
}

TEST_CASE("the four-state fixed-horizon kernel has the second eigenvalue 5/8") {
  const FixedHorizonSpace space(parse_finite_model(four_state_model, "four-state"), 2);
  const Power power{Rational(2)};
  const Bracket bracket = second_eigenvalue(
      fixed_horizon_kernel(space, power, RestartLaw::uniform(2)), power_target(space, power), 30);
  CHECK(holds(bracket, Rational(5, 8)));
  CHECK(bracket.upper - bracket.lower == 2 / integer_power(Rational(2), 30));
}

TEST_CASE("a kernel that is not reversible, or a state without mass, is refused") {
  const Matrix cycle = matrix_of({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}});
  const Law even(3, Rational(1, 3));
  CHECK_THROWS_AS(eigenvalues_above(cycle, even, 0), std::invalid_argument);
  CHECK_THROWS_AS(eigenvalues_above(matrix_of({{1, 0}, {0, 1}}), {1, 0}, 0), std::invalid_argument);
}
