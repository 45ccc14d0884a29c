#pragma once

#include <boost/multiprecision/gmp.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tempera::reference {

using Integer =
    boost::multiprecision::number<boost::multiprecision::gmp_int, boost::multiprecision::et_off>;
/// An exact number, always in lowest terms with a positive denominator.
using Rational = boost::multiprecision::number<boost::multiprecision::gmp_rational,
                                               boost::multiprecision::et_off>;

/// Reads "3/8", "0", "-1" or a decimal such as "0.25", exactly. `where` names the file and place,
/// or the flag, for the message.
/// @throw BadInput if it is anything else, has a zero denominator or more than 1000 characters
Rational parse_rational(std::string_view text, const std::string& where);

/// Digits of |value| to the base 2; of 0, none.
std::size_t length_in_bits(const Integer& value);

/// Lowest terms: "3/8", "0", "1".
std::string to_string(const Rational& value);

/// base^exponent.
Rational integer_power(const Rational& base, unsigned exponent);

/// base^exponent for base >= 0 and exponent > 0 when that is a rational number, which it is just
/// when numerator and denominator of the base have exact roots; nothing otherwise.
/// The exponent's numerator and denominator must fit `unsigned`.
std::optional<Rational> exact_power(const Rational& base, const Rational& exponent);

/// base^exponent rounded down to a multiple of a power of 2, with `bits` significant bits or more:
/// within the relative 2^-bits. Roots of whole numbers alone are taken, no floating point.
/// base > 0; the exponent as in exact_power.
Rational rounded_power(const Rational& base, const Rational& exponent, std::size_t bits);

/// The decimal expansion rounded to `digits` places, for tables that people read.
std::string to_decimal(const Rational& value, unsigned digits);

/// The largest expansion with `digits` places that is not above the value: a lower bound stays one
/// when it is printed.
std::string to_decimal_below(const Rational& value, unsigned digits);

/// The smallest expansion with `digits` places that is not below the value.
std::string to_decimal_above(const Rational& value, unsigned digits);

}  // namespace tempera::reference
