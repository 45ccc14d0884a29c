#include "lab/enumerate/real.hpp"

#include "tests/law.hpp"

using namespace tempera;
using lab::Real;
using reference::Integer;
using reference::Rational;

TEST_CASE("a rational becomes the nearest it can be to 50 digits") {
  CHECK(lab::to_real(Rational(0)) == 0);
  CHECK(lab::to_real(Rational(-3, 8)) == Real("-0.375"));
  CHECK(lab::to_real(Rational(1, 3)) == Real(1) / 3);
}

// A long rational must neither overflow nor lose its size: both its parts are beyond any double.
TEST_CASE("numerators and denominators of any length are taken") {
  const Integer large = boost::multiprecision::pow(Integer(10), 5000);
  CHECK(lab::to_real(Rational(large, large + 1)) == 1);
  CHECK(lab::to_scientific(lab::to_real(Rational(Integer(1), large))) == "1.000000e-5000");
  CHECK(lab::to_scientific(lab::to_real(Rational(large, Integer(3)))) == "3.333333e+4999");
}

// A value: its two parts round to 168 bits and so does their quotient, 3 · 2^-168; cutting the
// parts to 220 bits is nothing beside it. The product below holds three values and two more
// roundings, 11 · 2^-168 in all, which is below 2^-164.
TEST_CASE("the relative error of three values and their product is below 2^-164") {
  law("to_real(p/q) * q = p", [] {
    const Integer p = Integer(*rc::gen::inRange<long>(1, 1L << 62)) *
                      boost::multiprecision::pow(Integer(3), *rc::gen::inRange(0U, 900U));
    const Integer q = Integer(*rc::gen::inRange<long>(1, 1L << 62)) *
                      boost::multiprecision::pow(Integer(7), *rc::gen::inRange(0U, 900U));
    const Real value = lab::to_real(Rational(p, q));
    const Real back = value * lab::to_real(Rational(q)) / lab::to_real(Rational(p));
    RC_ASSERT(abs(back - 1) < ldexp(Real(1), -164));
  });
}

TEST_CASE("distances are printed with seven digits and their exponent") {
  CHECK(lab::to_scientific(0) == "0");
  CHECK(lab::to_scientific(Real("4.1234567e-14")) == "4.123457e-14");
  CHECK(lab::to_scientific(1) == "1.000000e+00");
}
