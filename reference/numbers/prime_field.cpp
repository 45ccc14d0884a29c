#include "reference/numbers/prime_field.hpp"

#include <gmp.h>

namespace tempera::reference {

PrimeField::PrimeField(std::uint64_t prime) : prime_(prime) {
  // Newton: each step doubles the number of right bits of 1 / p, of which p itself has three.
  std::uint64_t inverse = prime;
  for (int step = 0; step < 5; ++step) inverse *= 2 - prime * inverse;
  negative_inverse_ = 0 - inverse;
  one_ = static_cast<std::uint64_t>((static_cast<Wide>(1) << 64U) % prime);
  one_squared_ = static_cast<std::uint64_t>(static_cast<Wide>(one_) * one_ % prime);
}

PrimeField::Element PrimeField::of(const Integer& value) const {
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  return multiply(mpz_fdiv_ui(value.backend().data(), prime_), one_squared_);
}

PrimeField::Element PrimeField::of(const Rational& value) const {
  const Element above = of(Integer(numerator(value)));
  const Element below = of(Integer(denominator(value)));
  return below == one_ ? above : multiply(above, inverse(below));
}

// Fermat: a^(p - 2).
PrimeField::Element PrimeField::inverse(Element a) const {
  Element result = one_;
  for (std::uint64_t exponent = prime_ - 2; exponent != 0; exponent >>= 1U) {
    if (exponent & 1U) result = multiply(result, a);
    a = multiply(a, a);
  }
  return result;
}

std::vector<PrimeField> prime_fields(std::size_t bits,
                                     const std::function<bool(std::uint64_t)>& admits) {
  // Primes above 2^61 have more than 61 bits each: counted as 61, the product is never too small.
  std::vector<PrimeField> fields;
  std::uint64_t candidate = (std::uint64_t{1} << 62U) - 1;
  for (; fields.size() * 61 <= bits; candidate -= 2) {
    // GMP's test is without error below 2^64.
    if (mpz_probab_prime_p(Integer(candidate).backend().data(), 30) == 0) continue;
    if (admits(candidate)) fields.emplace_back(candidate);
  }
  return fields;
}

}  // namespace tempera::reference
