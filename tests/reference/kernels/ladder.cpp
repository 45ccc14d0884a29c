#include "reference/kernels/ladder.hpp"

#include "base/error.hpp"
#include "tests/catch.hpp"
#include "tests/reference/random_model.hpp"

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

TEST_CASE("an irrational power is rounded down where that is asked for, a rational one is not") {
  const Power exact(Rational(3, 2), "power", Irrational::rounded);
  CHECK(exact.raise(Rational(1, 4)) == Rational(1, 8));
  CHECK(exact.raise(0) == 0);
  law("within 2^-160 of the value, by its own powers", [] {
    const Rational value(random::between(1, 60), random::between(1, 25));
    const Power power(value, "power", Irrational::rounded);
    const Rational base(random::between(1, 40), random::between(1, 40));
    const Rational raised = power.raise(base);
    // raised^d <= base^n < (raised (1 + 2^-159))^d, for value = n / d.
    const auto degree = denominator(value).convert_to<unsigned>();
    const Rational whole = integer_power(base, numerator(value).convert_to<unsigned>());
    const Rational above = raised * (1 + Rational(1) / integer_power(2, 159));
    CHECK(integer_power(raised, degree) <= whole);
    CHECK(whole < integer_power(above, degree));
  });
  // A small base keeps as many significant bits.
  const Rational small = exact.raise(Rational(1) / integer_power(Rational(7), 61));
  CHECK(length_in_bits(numerator(small)) >= 160);
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
