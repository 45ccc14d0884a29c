#include "reference/numbers/residues.hpp"

#include <gmp.h>

namespace tempera::reference {

Residues::Residues(std::vector<PrimeField> fields) : fields_(std::move(fields)) {
  product_.emplace_back(1);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const PrimeField& field = fields_[i];
    PrimeField::Element earlier = field.one();
    auto& primes = earlier_prime_.emplace_back();
    for (std::size_t j = 0; j < i; ++j) {
      primes.push_back(field.of(Integer(fields_[j].prime())));
      earlier = field.multiply(earlier, primes.back());
    }
    inverse_of_earlier_.push_back(field.inverse(earlier));
    product_.push_back(product_.back() * fields_[i].prime());
  }
}

Integer Residues::signed_integer(std::span<const PrimeField::Element> elements) const {
  // N = d_0 + p_0 (d_1 + p_1 (d_2 + ...)), d_i < p_i.
  thread_local std::vector<std::uint64_t> digits;
  digits.clear();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const PrimeField& field = fields_[i];
    PrimeField::Element known = 0;
    for (std::size_t j = i; j-- > 0;) {
      // A digit of another prime may exceed this one, but not twice it: both are in (2^61, 2^62).
      const std::uint64_t digit =
          digits[j] >= field.prime() ? digits[j] - field.prime() : digits[j];
      // `known` is a plain number and p_j an element, so their product is a plain number.
      known = field.add(field.multiply(known, earlier_prime_[i][j]), digit);
    }
    const std::uint64_t missing = field.subtract(field.number(elements[i]), known);
    digits.push_back(field.multiply(missing, inverse_of_earlier_[i]));
  }
  Integer value = 0;
  mpz_t& out = value.backend().data();
  for (std::size_t i = elements.size(); i-- > 0;) {
    mpz_mul_ui(out, out, fields_[i].prime());
    mpz_add_ui(out, out, digits[i]);
  }
  const Integer& product = product_[elements.size()];
  if (2 * value > product) value -= product;
  return value;
}

}  // namespace tempera::reference
