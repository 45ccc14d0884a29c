#include "reference/numbers/linear_system.hpp"

#include "tests/law.hpp"
#include "tests/reference/four_state.hpp"

using namespace tempera::reference;

TEST_CASE("a system is solved exactly, with row exchanges") {
  const Matrix a = matrix_of({{q("0"), q("2")}, {q("1/3"), q("1")}});
  CHECK(solve(a, {q("1"), q("1")}) == std::vector<Rational>{q("3/2"), q("1/2")});
}

TEST_CASE("a singular system has no solution to give") {
  CHECK_FALSE(solve(matrix_of({{q("1"), q("2")}, {q("2"), q("4")}}), {q("1"), q("2")}));
}

TEST_CASE("laws of linear systems") {
  law("A times the solution is b", [] {
    const auto n = *rc::gen::inRange<std::size_t>(1, 6);
    Matrix a(n, n);
    std::vector<Rational> b(n);
    for (std::size_t i = 0; i < n; ++i) {
      b[i] = *rc::gen::inRange(-5, 6);
      for (std::size_t j = 0; j < n; ++j) {
        a(i, j) = Rational(*rc::gen::inRange(-5, 6)) / *rc::gen::inRange(1, 4);
      }
    }
    const auto v = solve(a, b);
    RC_PRE(v.has_value());
    for (std::size_t i = 0; i < n; ++i) {
      Rational sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += a(i, j) * (*v)[j];
      RC_ASSERT(sum == b[i]);
    }
  });
}
