#include "lab/enumerate/real.hpp"

#include <gmp.h>

#include <array>
#include <cstdint>
#include <ios>

namespace tempera::lab {
namespace {

/// Integer / 2^shift, keeping 220 leading bits: more than Real holds, however long the integer.
Real scaled(const reference::Integer& value, long& exponent) {
  if (value == 0) {
    exponent = 0;
    return 0;
  }
  const auto bits =
      static_cast<long>(boost::multiprecision::msb(boost::multiprecision::abs(value)));
  exponent = bits > 220 ? bits - 220 : 0;
  const reference::Integer leading =
      boost::multiprecision::abs(value) >> static_cast<unsigned long>(exponent);
  // Words from the least on: the last sum alone rounds by more than 2^-63 of a rounding.
  std::array<std::uint64_t, 4> words{};
  mpz_export(words.data(), nullptr, -1, sizeof words[0], 0, 0, leading.backend().data());
  Real sum = 0;
  for (std::size_t word = 0; word < words.size(); ++word)
    sum += ldexp(Real(words[word]), static_cast<int>(64 * word));
  return value < 0 ? Real(-sum) : sum;
}

}  // namespace

Real to_real(const reference::Rational& value) {
  long up = 0;
  long down = 0;
  const Real numerator = scaled(boost::multiprecision::numerator(value), up);
  const Real denominator = scaled(boost::multiprecision::denominator(value), down);
  return ldexp(Real(numerator / denominator), static_cast<int>(up - down));
}

std::string to_scientific(const Real& value, int digits) {
  return value == 0 ? "0" : value.str(digits - 1, std::ios_base::scientific);
}

}  // namespace tempera::lab
