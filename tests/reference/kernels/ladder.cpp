#include "reference/kernels/ladder.hpp"

#include "base/error.hpp"
#include "tests/catch.hpp"

using namespace tempera;
using namespace tempera::reference;

TEST_CASE("a power is a positive rational of bounded size") {
  CHECK(parse_power("1.5", "--power").value() == Rational(3, 2));
  CHECK(parse_power("1024", "--power").value() == 1024);
  CHECK_THROWS_WITH(parse_power("0", "--power"),
                    Catch::Contains("--power: the power 0 is not positive"));
  CHECK_THROWS_AS(parse_power("-1", "--power"), BadInput);
  CHECK_THROWS_AS(parse_power("1025", "--power"), BadInput);
  CHECK_THROWS_AS(parse_power("1/1025", "--power"), BadInput);
  CHECK_THROWS_AS(parse_power("two", "--power"), BadInput);
}

TEST_CASE("an irrational power names the probability") {
  const Power power = parse_power("3/2", "--power");
  CHECK(power.raise(Rational(1, 4)) == Rational(1, 8));
  CHECK_THROWS_WITH(power.raise(Rational(1, 2)), Catch::Contains("power 3/2: the probability 1/2"));
}

TEST_CASE("a ladder increases strictly") {
  const Ladder ladder = parse_ladder("1,3/2,4", "--powers");
  CHECK(ladder.rungs() == 3);
  CHECK(ladder[1].value() == Rational(3, 2));
  CHECK_THROWS_WITH(parse_ladder("1,2,2", "--powers"), Catch::Contains("2 follows 2"));
  CHECK_THROWS_AS(parse_ladder("2,1", "--powers"), BadInput);
  CHECK_THROWS_AS(parse_ladder("0,1", "--powers"), BadInput);
  CHECK_THROWS_AS(parse_ladder("", "--powers"), BadInput);
  CHECK_THROWS_AS(Ladder({}), BadInput);
}
