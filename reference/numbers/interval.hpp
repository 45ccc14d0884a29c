#pragma once

#include <mpfr.h>

#include <functional>
#include <optional>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// A real number between two binary floating-point numbers. Every operation rounds its lower end
/// down and its upper end up, so the number stays enclosed: for what is no rational, such as a
/// probability to a power of 3/2 or a logarithm.
/// @throw Bug in every operation whose result is no number
class Interval {
 public:
  /// The rational, enclosed by numbers of `bits` bits.
  Interval(const Rational& value, long bits);
  Interval(const Interval& other);
  Interval& operator=(const Interval& other);
  ~Interval();

  /// The bits of the two ends, and of every result made from them and from none with more.
  long bits() const { return mpfr_get_prec(lower_); }
  /// The ends, exactly.
  Rational lower() const;
  Rational upper() const;
  /// Whether the number is proved to be above zero, or below it.
  bool is_positive() const { return mpfr_sgn(lower_) > 0; }
  bool is_negative() const { return mpfr_sgn(upper_) < 0; }

  friend Interval operator+(const Interval& a, const Interval& b);
  friend Interval operator-(const Interval& a, const Interval& b);
  friend Interval operator*(const Interval& a, const Interval& b);
  /// The divisor must be proved not to be zero.
  friend Interval operator/(const Interval& a, const Interval& b);
  /// The lesser of two numbers.
  friend Interval least(const Interval& a, const Interval& b);
  /// What encloses both.
  friend Interval hull(const Interval& a, const Interval& b);

  friend Interval exp(const Interval& a);
  /// The number must be proved positive.
  friend Interval log(const Interval& a);
  /// The number must be proved not to be negative.
  friend Interval sqrt(const Interval& a);
  /// 2/√π ∫_a^∞ exp(−t²) dt.
  friend Interval erfc(const Interval& a);

 private:
  explicit Interval(long bits);
  const Interval& checked() const;

  mpfr_t lower_, upper_;
};

/// base^exponent for base >= 0 and exponent > 0.
/// @throw Bug otherwise
Interval power(const Rational& base, const Rational& exponent, long bits);

/// The most bits to which decide_sign goes.
inline constexpr long most_bits = 4096;

/// 1 or -1 as the number that `value` encloses with ever more bits, from 64 to most_bits, is proved
/// positive or negative; nothing if it never is, as when it is zero.
std::optional<int> decide_sign(const std::function<Interval(long bits)>& value);

}  // namespace tempera::reference
