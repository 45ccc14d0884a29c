#include "reference/numbers/interval.hpp"

#include <stdexcept>

#include "tests/law.hpp"

using namespace tempera::reference;

namespace {

bool encloses(const Interval& interval, const Rational& value) {
  return interval.lower() <= value && value <= interval.upper();
}

Rational drawn_rational() {
  const int numerator = *rc::gen::inRange(-200, 201);
  return Rational(numerator, *rc::gen::inRange(1, 30));
}

}  // namespace

TEST_CASE("the field's operations enclose the exact rational, whatever the precision") {
  law("enclosed", [] {
    const Rational a = drawn_rational(), b = drawn_rational();
    for (const long bits : {8L, 64L}) {
      const Interval x(a, bits), y(b, bits);
      RC_ASSERT(encloses(x + y, a + b));
      RC_ASSERT(encloses(x - y, a - b));
      RC_ASSERT(encloses(x * y, a * b));
      RC_ASSERT(encloses(least(x, y), std::min(a, b)));
      RC_ASSERT(encloses(hull(x, y), a) && encloses(hull(x, y), b));
      if (b != 0 && (y.is_positive() || y.is_negative())) RC_ASSERT(encloses(x / y, a / b));
    }
  });
}

TEST_CASE("a wide interval times another encloses every product of their points") {
  const Interval wide = hull(Interval(-2, 64), Interval(3, 64));
  const Interval other = hull(Interval(-5, 64), Interval(1, 64));
  const Interval product = wide * other;
  CHECK(product.lower() == -15);
  CHECK(product.upper() == 10);
}

TEST_CASE("powers, roots and logarithms enclose what is rational, and get closer with more bits") {
  CHECK(encloses(power(Rational(9, 4), Rational(3, 2), 64), Rational(27, 8)));
  CHECK(encloses(sqrt(Interval(Rational(49, 9), 64)), Rational(7, 3)));
  CHECK(encloses(exp(log(Interval(Rational(5, 7), 64))), Rational(5, 7)));
  CHECK(encloses(erfc(Interval(0, 64)), 1));
  CHECK(power(0, Rational(1, 2), 64).upper() == 0);
  const auto width = [](long bits) {
    const Interval root = sqrt(Interval(2, bits));
    return Rational(root.upper() - root.lower());
  };
  CHECK(width(128) < width(64));
  CHECK(width(64) > 0);
}

TEST_CASE("signs are decided by more bits, and that of zero never") {
  // √2 differs from this by less than 2^-64.
  const Rational near = parse_rational("1.4142135623730950488016887242096980785696", "near");
  CHECK(decide_sign([&](long bits) { return sqrt(Interval(2, bits)) - Interval(near, bits); }) ==
        1);
  CHECK(decide_sign([&](long bits) { return Interval(near, bits) - sqrt(Interval(2, bits)); }) ==
        -1);
  CHECK(decide_sign([](long bits) {
          const Interval root = sqrt(Interval(2, bits));
          return root * root - Interval(2, bits);
        }) == std::nullopt);
}

TEST_CASE("what is not a number is an error") {
  const Interval around_zero = hull(Interval(-1, 64), Interval(1, 64));
  CHECK_THROWS_AS(Interval(1, 64) / around_zero, tempera::Bug);
  CHECK_THROWS_AS(log(Interval(0, 64)), tempera::Bug);
  CHECK_THROWS_AS(sqrt(Interval(-1, 64)), tempera::Bug);
  CHECK_THROWS_AS(power(-1, 2, 64), tempera::Bug);
  // Beyond the greatest number of the format.
  Interval large(1000000000, 64);
  for (int i = 0; i < 3; ++i) large = large * large;
  CHECK_THROWS_AS(exp(large), tempera::Bug);
}
