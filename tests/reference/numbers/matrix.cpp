#include "reference/numbers/matrix.hpp"

#include "tests/catch.hpp"
#include "tests/reference/four_state.hpp"

using namespace tempera::reference;

TEST_CASE("the diagonal takes what a row lacks") {
  Matrix kernel = matrix_of({{q("5"), q("1/4")}, {q("1/3"), q("0")}});
  complete_rows_on_diagonal(kernel);
  CHECK(kernel == matrix_of({{q("3/4"), q("1/4")}, {q("1/3"), q("2/3")}}));
}

TEST_CASE("a point mass sits on one state") {
  CHECK(point_mass(3, 1) == Law{Rational(0), Rational(1), Rational(0)});
}
