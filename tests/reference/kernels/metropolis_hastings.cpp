#include "reference/kernels/metropolis_hastings.hpp"

#include "tests/catch.hpp"

using namespace tempera::reference;

TEST_CASE("acceptance is the capped ratio of flows, zero without a way back") {
  CHECK(acceptance(Rational(1, 3), Rational(1, 2)) == Rational(2, 3));
  CHECK(acceptance(Rational(1, 2), Rational(1, 3)) == 1);
  CHECK(acceptance(Rational(0), Rational(1, 3)) == 0);
}
