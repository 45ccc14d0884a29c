#include "reference/numbers/rational.hpp"

#include <algorithm>

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

std::optional<Integer> exact_root(const Integer& value, unsigned degree) {
  Integer root;
  if (mpz_root(root.backend().data(), value.backend().data(), degree) == 0) return std::nullopt;
  return root;
}

}  // namespace

Rational parse_rational(std::string_view text, const std::string& where) {
  const auto reject = [&](const std::string& what) {
    return BadInput(where, in_quotes(text) + " " + what,
                    "write a fraction such as \"3/8\" or a decimal such as \"0.25\"");
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
  } else if (const auto point = digits.find('.'); point != std::string_view::npos) {
    const auto whole = digits.substr(0, point), places = digits.substr(point + 1);
    if (!all_digits(whole) || !all_digits(places)) throw reject("is not a number");
    value = Rational(decimal_integer(std::string(whole) + std::string(places))) /
            integer_power(Rational(10), static_cast<unsigned>(places.size()));
  } else {
    if (!all_digits(digits)) throw reject("is not a number");
    value = Rational(decimal_integer(digits));
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

std::string to_decimal(const Rational& value, unsigned digits) {
  const Rational scaled = abs(value) * integer_power(Rational(10), digits);
  const Integer rounded = (2 * numerator(scaled) + denominator(scaled)) / (2 * denominator(scaled));
  std::string text = rounded.str();
  if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
  if (digits > 0) text.insert(text.size() - digits, 1, '.');
  return value < 0 && rounded != 0 ? "-" + text : text;
}

}  // namespace tempera::reference
