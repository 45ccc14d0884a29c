#include "reference/numbers/rational.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::reference {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Boost's own conversion would read a leading zero as octal.
Integer decimal_integer(std::string_view digits) {
  Integer value;
  mpz_set_str(value.backend().data(), std::string(digits).c_str(), 10);
  return value;
}

/// value · 10^digits.
Rational in_last_places(const Rational& value, unsigned digits) {
  return value * integer_power(Rational(10), digits);
}

/// units · 10^-digits.
std::string decimal_text(const Integer& units, unsigned digits) {
  std::string text = Integer(abs(units)).str();
  if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
  if (digits > 0) text.insert(text.size() - digits, 1, '.');
  return units < 0 ? "-" + text : text;
}

/// The value of "12.34" or "12", or nothing.
std::optional<Rational> parse_decimal(std::string_view text) {
  const auto point = text.find('.');
  const auto whole = text.substr(0, point);
  const auto decimals =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (!all_digits(whole) || (point != std::string_view::npos && !all_digits(decimals)))
    return std::nullopt;
  return Rational(Rational(decimal_integer(std::string(whole) + std::string(decimals))) /
                  integer_power(Rational(10), static_cast<unsigned>(decimals.size())));
}

/// The value of "-9", "+9" or "9", of at most three digits, or nothing.
std::optional<int> parse_exponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (!all_digits(text) || text.size() > 3) return std::nullopt;
  const int value = std::stoi(std::string(text));
  return negative ? -value : value;
}

std::optional<Integer> exact_root(const Integer& value, unsigned degree) {
  Integer root;
  if (mpz_root(root.backend().data(), value.backend().data(), degree) == 0) return std::nullopt;
  return root;
}

}  // namespace

Rational parse_rational(std::string_view text, const std::string& where) {
  const auto reject = [&](const std::string& what) {
    return BadInput(where, in_quotes(text) + " " + what,
                    "write a fraction such as \"3/8\" or a decimal such as \"0.25\" or \"1e-9\"");
  };
  if (text.size() > 1000) throw reject("has more than 1000 characters");
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative) digits.remove_prefix(1);

  Rational value;
  if (const auto slash = digits.find('/'); slash != std::string_view::npos) {
    const auto numerator = digits.substr(0, slash), denominator = digits.substr(slash + 1);
    if (!all_digits(numerator) || !all_digits(denominator)) throw reject("is not a number");
    const Integer divisor = decimal_integer(denominator);
    if (divisor == 0) throw reject("divides by zero");
    value = Rational(decimal_integer(numerator)) / Rational(divisor);
  } else {
    const auto e = digits.find_first_of("eE");
    const auto decimal = parse_decimal(digits.substr(0, e));
    const std::optional<int> scale =
        e == std::string_view::npos ? std::optional(0) : parse_exponent(digits.substr(e + 1));
    if (!decimal || !scale) throw reject("is not a number");
    const Rational tens = integer_power(Rational(10), static_cast<unsigned>(std::abs(*scale)));
    value = *scale < 0 ? Rational(*decimal / tens) : Rational(*decimal * tens);
  }
  return negative ? Rational(-value) : value;
}

std::size_t length_in_bits(const Integer& value) { return value == 0 ? 0 : msb(abs(value)) + 1; }

std::string to_string(const Rational& value) { return value.str(); }

Rational integer_power(const Rational& base, unsigned exponent) {
  Rational result;
  mpq_t& out = result.backend().data();
  const mpq_t& in = base.backend().data();
  mpz_pow_ui(mpq_numref(out), mpq_numref(in), exponent);
  mpz_pow_ui(mpq_denref(out), mpq_denref(in), exponent);
  return result;  // powers of coprime numbers are coprime
}

std::optional<Rational> exact_power(const Rational& base, const Rational& exponent) {
  const auto degree = denominator(exponent).convert_to<unsigned>();
  const auto numerator_root = exact_root(numerator(base), degree);
  const auto denominator_root = exact_root(denominator(base), degree);
  if (!numerator_root || !denominator_root) return std::nullopt;
  return integer_power(Rational(*numerator_root) / Rational(*denominator_root),
                       numerator(exponent).convert_to<unsigned>());
}

Rational rounded_power(const Rational& base, const Rational& exponent, std::size_t bits) {
  const Rational raised = integer_power(base, numerator(exponent).convert_to<unsigned>());
  const auto degree = denominator(exponent).convert_to<unsigned>();
  // base^e is above 2^-below, so that its floor in units of 2^-shift has `bits` bits or more.
  const std::size_t above = length_in_bits(numerator(raised));
  const std::size_t below = length_in_bits(denominator(raised));
  const std::size_t shift = bits + (below < above ? 0 : (below - above + 1) / degree + 1);
  const Integer scaled = (numerator(raised) << (shift * degree)) / denominator(raised);
  Integer root;
  mpz_root(root.backend().data(), scaled.backend().data(), degree);
  return Rational(root) / Rational(Integer(Integer(1) << shift));
}

std::string to_decimal(const Rational& value, unsigned digits) {
  const Rational scaled = in_last_places(abs(value), digits);
  const Integer rounded = (2 * numerator(scaled) + denominator(scaled)) / (2 * denominator(scaled));
  return decimal_text(value < 0 ? -rounded : rounded, digits);
}

std::string to_decimal_below(const Rational& value, unsigned digits) {
  const Rational scaled = in_last_places(value, digits);
  Integer units;
  mpz_fdiv_q(units.backend().data(), numerator(scaled).backend().data(),
             denominator(scaled).backend().data());
  return decimal_text(units, digits);
}

std::string to_decimal_above(const Rational& value, unsigned digits) {
  const Rational scaled = in_last_places(value, digits);
  Integer units;
  mpz_cdiv_q(units.backend().data(), numerator(scaled).backend().data(),
             denominator(scaled).backend().data());
  return decimal_text(units, digits);
}

}  // namespace tempera::reference
