#include "reference/numbers/rational.hpp"

#include "base/error.hpp"
#include "tests/law.hpp"

using namespace tempera;
using namespace tempera::reference;

TEST_CASE("rationals are read exactly and printed in lowest terms") {
  const auto reread = [](const char* text) { return to_string(parse_rational(text, "test")); };
  CHECK(reread("3/8") == "3/8");
  CHECK(reread("6/16") == "3/8");
  CHECK(reread("0") == "0");
  CHECK(reread("0/7") == "0");
  CHECK(reread("1") == "1");
  CHECK(reread("0.25") == "1/4");
  CHECK(reread("010/016") == "5/8");  // never octal
  CHECK(reread("-0.5") == "-1/2");
  CHECK(reread("1e-9") == "1/1000000000");
  CHECK(reread("-2.50E+1") == "-25");
  CHECK(reread("3e0") == "3");
  CHECK(reread("0e-999") == "0");
  CHECK(reread("1000000000000000000000000000000/3") == "1000000000000000000000000000000/3");
}

TEST_CASE("what is not a number is refused by name") {
  for (const char* text :
       {"",   "x",  "1/",    "/2", "1/0", "1e", "e3",  "1e1000", "1e+-1", "1e0.5", "1/2e1", "0x1",
        ".5", "5.", "1/2/3", " 1", "1 ",  "+1", "--1", "1/-2",   "nan",   "inf",   "1,2"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_rational(text, "place"), BadInput);
  }
  CHECK_THROWS_AS(parse_rational(std::string(1001, '1'), "place"), BadInput);
  CHECK_THROWS_WITH(parse_rational("x", "place"), Catch::Contains("place: \"x\" is not a number"));
}

TEST_CASE("a rational power is exact where the roots are, and absent elsewhere") {
  CHECK(exact_power(Rational(1, 4), Rational(3, 2)) == Rational(1, 8));
  CHECK(exact_power(Rational(8, 27), Rational(2, 3)) == Rational(4, 9));
  CHECK(exact_power(Rational(0), Rational(1, 2)) == Rational(0));
  CHECK(exact_power(Rational(3, 5), Rational(2)) == Rational(9, 25));
  CHECK_FALSE(exact_power(Rational(1, 2), Rational(3, 2)));
  CHECK_FALSE(exact_power(Rational(4, 3), Rational(1, 2)));
}

TEST_CASE("decimals are rounded at the last place") {
  CHECK(to_decimal(Rational(2, 3), 4) == "0.6667");
  CHECK(to_decimal(Rational(-1, 8), 2) == "-0.13");
  CHECK(to_decimal(Rational(12), 0) == "12");
  CHECK(to_decimal(Rational(-1, 1000), 1) == "0.0");
}

TEST_CASE("a bound stays a bound when it is printed") {
  CHECK(to_decimal_below(Rational(2, 3), 4) == "0.6666");
  CHECK(to_decimal_above(Rational(2, 3), 4) == "0.6667");
  CHECK(to_decimal_below(Rational(-1, 8), 2) == "-0.13");
  CHECK(to_decimal_above(Rational(-1, 8), 2) == "-0.12");
  CHECK(to_decimal_above(Rational(-1, 1000), 1) == "0.0");
  CHECK(to_decimal_below(Rational(3, 8), 3) == "0.375");
  CHECK(to_decimal_above(Rational(3, 8), 3) == "0.375");
  law("the printed bounds are neighbours around the value, and one number only if it is it",
      [](std::int32_t n, std::uint16_t d) {
        const Rational value = Rational(n) / (Rational(d) + 1);
        const auto digits = *rc::gen::inRange(0u, 7u);
        const Rational unit = 1 / integer_power(Rational(10), digits);
        const Rational below = parse_rational(to_decimal_below(value, digits), "below");
        const Rational above = parse_rational(to_decimal_above(value, digits), "above");
        RC_ASSERT(below <= value && value <= above);
        RC_ASSERT(above - below == (denominator(Rational(value / unit)) == 1 ? Rational(0) : unit));
      });
}

TEST_CASE("laws of rationals") {
  law("reading what was printed gives the number back", [](std::int64_t n, std::uint32_t d) {
    const Rational value = Rational(n) / (Rational(d) + 1);
    RC_ASSERT(parse_rational(to_string(value), "test") == value);
  });
  law("the n-th root of an n-th power is the number", [](std::uint16_t n, std::uint16_t d) {
    const Rational value = Rational(n) / (Rational(d) + 1);
    const auto degree = *rc::gen::inRange(1u, 9u);
    RC_ASSERT(exact_power(integer_power(value, degree), Rational(1, degree)) == value);
  });
}
