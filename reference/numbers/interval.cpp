#include "reference/numbers/interval.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tempera::reference {

Interval::Interval(long bits) {
  mpfr_init2(lower_, bits);
  mpfr_init2(upper_, bits);
}

Interval::Interval(const Rational& value, long bits) : Interval(bits) {
  mpfr_set_q(lower_, value.backend().data(), MPFR_RNDD);
  mpfr_set_q(upper_, value.backend().data(), MPFR_RNDU);
}

Interval::Interval(const Interval& other) : Interval(other.bits()) {
  mpfr_set(lower_, other.lower_, MPFR_RNDD);
  mpfr_set(upper_, other.upper_, MPFR_RNDU);
}

Interval& Interval::operator=(const Interval& other) {
  if (this == &other) return *this;
  mpfr_set_prec(lower_, other.bits());
  mpfr_set_prec(upper_, other.bits());
  mpfr_set(lower_, other.lower_, MPFR_RNDD);
  mpfr_set(upper_, other.upper_, MPFR_RNDU);
  return *this;
}

Interval::~Interval() {
  mpfr_clear(lower_);
  mpfr_clear(upper_);
}

const Interval& Interval::checked() const {
  if (mpfr_number_p(lower_) == 0 || mpfr_number_p(upper_) == 0)
    throw Bug("an interval has no finite ends");
  return *this;
}

namespace {

Rational exactly(mpfr_srcptr value) {
  Rational rational;
  mpfr_get_q(rational.backend().data(), value);
  return rational;
}

long more_bits(const Interval& a, const Interval& b) { return std::max(a.bits(), b.bits()); }

}  // namespace

Rational Interval::lower() const { return exactly(lower_); }
Rational Interval::upper() const { return exactly(upper_); }

Interval operator+(const Interval& a, const Interval& b) {
  Interval sum(more_bits(a, b));
  mpfr_add(sum.lower_, a.lower_, b.lower_, MPFR_RNDD);
  mpfr_add(sum.upper_, a.upper_, b.upper_, MPFR_RNDU);
  return sum.checked();
}

Interval operator-(const Interval& a, const Interval& b) {
  Interval difference(more_bits(a, b));
  mpfr_sub(difference.lower_, a.lower_, b.upper_, MPFR_RNDD);
  mpfr_sub(difference.upper_, a.upper_, b.lower_, MPFR_RNDU);
  return difference.checked();
}

Interval operator*(const Interval& a, const Interval& b) {
  Interval product(more_bits(a, b)), corner(more_bits(a, b));
  bool first = true;
  for (mpfr_srcptr x : {mpfr_srcptr(a.lower_), mpfr_srcptr(a.upper_)})
    for (mpfr_srcptr y : {mpfr_srcptr(b.lower_), mpfr_srcptr(b.upper_)}) {
      mpfr_mul(corner.lower_, x, y, MPFR_RNDD);
      mpfr_mul(corner.upper_, x, y, MPFR_RNDU);
      if (first || mpfr_less_p(corner.lower_, product.lower_) != 0)
        mpfr_set(product.lower_, corner.lower_, MPFR_RNDD);
      if (first || mpfr_greater_p(corner.upper_, product.upper_) != 0)
        mpfr_set(product.upper_, corner.upper_, MPFR_RNDU);
      first = false;
    }
  return product.checked();
}

Interval operator/(const Interval& a, const Interval& b) {
  if (!b.is_positive() && !b.is_negative()) throw Bug("an interval divides by what may be zero");
  Interval inverse(more_bits(a, b));
  mpfr_ui_div(inverse.lower_, 1, b.upper_, MPFR_RNDD);
  mpfr_ui_div(inverse.upper_, 1, b.lower_, MPFR_RNDU);
  return a * inverse.checked();
}

Interval least(const Interval& a, const Interval& b) {
  Interval result(more_bits(a, b));
  mpfr_min(result.lower_, a.lower_, b.lower_, MPFR_RNDD);
  mpfr_min(result.upper_, a.upper_, b.upper_, MPFR_RNDU);
  return result.checked();
}

Interval hull(const Interval& a, const Interval& b) {
  Interval result(more_bits(a, b));
  mpfr_min(result.lower_, a.lower_, b.lower_, MPFR_RNDD);
  mpfr_max(result.upper_, a.upper_, b.upper_, MPFR_RNDU);
  return result.checked();
}

Interval exp(const Interval& a) {
  Interval result(a.bits());
  mpfr_exp(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_exp(result.upper_, a.upper_, MPFR_RNDU);
  return result.checked();
}

Interval log(const Interval& a) {
  if (!a.is_positive()) throw Bug("a logarithm of what may not be positive");
  Interval result(a.bits());
  mpfr_log(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_log(result.upper_, a.upper_, MPFR_RNDU);
  return result.checked();
}

Interval sqrt(const Interval& a) {
  if (mpfr_sgn(a.lower_) < 0) throw Bug("a root of what may be negative");
  Interval result(a.bits());
  mpfr_sqrt(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_sqrt(result.upper_, a.upper_, MPFR_RNDU);
  return result.checked();
}

Interval erfc(const Interval& a) {
  Interval result(a.bits());
  mpfr_erfc(result.lower_, a.upper_, MPFR_RNDD);
  mpfr_erfc(result.upper_, a.lower_, MPFR_RNDU);
  return result.checked();
}

Interval power(const Rational& base, const Rational& exponent, long bits) {
  if (base < 0 || exponent <= 0) throw Bug("a power of a negative number, or by none");
  if (base == 0 || base == 1) return {base, bits};
  return exp(Interval(exponent, bits) * log(Interval(base, bits)));
}

std::optional<int> decide_sign(const std::function<Interval(long bits)>& value) {
  for (long bits = 64; bits <= most_bits; bits *= 2) {
    const Interval enclosure = value(bits);
    if (enclosure.is_positive()) return 1;
    if (enclosure.is_negative()) return -1;
  }
  return std::nullopt;
}

}  // namespace tempera::reference
