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

// 16 records: above the size from which intervals decide.
TEST_CASE("intervals count what rationals do, and leave an eigenvalue itself open") {
  const auto model = parse_finite_model(
      R"({"name": "m", "vocabulary": ["a", "b"], "terminal": [],
          "next": {"": {"a": "2/3", "b": "1/3"}}, "default": {"a": "3/7", "b": "4/7"}})",
      "m");
  const FixedHorizonSpace space(model, 4);
  const Power power{Rational(2)};
  const Matrix kernel = fixed_horizon_kernel(space, power, RestartLaw::uniform(4));
  const Law target = power_target(space, power);
  REQUIRE(kernel.rows() == 16);
  std::size_t last = 16;
  for (int i = -9; i < 10; ++i) {
    // No eigenvalue, and no pivot 0, has this denominator.
    const Rational value(100 * i + 7, 1009);
    const auto count = eigenvalues_above_by_intervals(kernel, target, value, 256);
    REQUIRE(count);
    CHECK(*count == eigenvalues_above(kernel, target, value));
    CHECK(*count <= last);
    last = *count;
  }
  // 1 is one: its pivot is 0.
  CHECK_FALSE(eigenvalues_above_by_intervals(kernel, target, 1, 256));
  CHECK(eigenvalues_above(kernel, target, 1) == 0);
  for (const unsigned halvings : {1U, 7U, 33U, 60U}) {
    const Bracket found = second_eigenvalue(kernel, target, halvings);
    CHECK(found.upper - found.lower == 2 / integer_power(Rational(2), halvings));
    CHECK(eigenvalues_above(kernel, target, found.lower) >= 2);
    CHECK(eigenvalues_above(kernel, target, found.upper) < 2);
  }
}

TEST_CASE("a kernel that is not reversible, or a state without mass, is refused") {
  const Matrix cycle = matrix_of({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}});
  const Law even(3, Rational(1, 3));
  CHECK_THROWS_AS(eigenvalues_above(cycle, even, 0), tempera::Bug);
  CHECK_THROWS_AS(eigenvalues_above(matrix_of({{1, 0}, {0, 1}}), {1, 0}, 0), tempera::Bug);
}
