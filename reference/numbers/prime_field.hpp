#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// The integers modulo an odd prime p with 2^61 < p < 2^62. Elements are kept in Montgomery's form,
/// a · 2^64 mod p, which a product needs no division for.
class PrimeField {
 public:
  using Element = std::uint64_t;  ///< in [0, p)

  explicit PrimeField(std::uint64_t prime);
  std::uint64_t prime() const { return prime_; }
  Element one() const { return one_; }

  /// The element of a whole number of either sign.
  Element of(const Integer& value) const;
  /// The element of a rational; its denominator must be no multiple of p.
  Element of(const Rational& value) const;
  /// The number in [0, p) that an element stands for.
  std::uint64_t number(Element a) const { return reduce(a); }

  Element add(Element a, Element b) const {
    const std::uint64_t sum = a + b;
    return sum >= prime_ ? sum - prime_ : sum;
  }
  Element subtract(Element a, Element b) const { return a >= b ? a - b : a + (prime_ - b); }
  Element multiply(Element a, Element b) const { return reduce(static_cast<Wide>(a) * b); }
  /// Σ_i a_i b_i, with one reduction. Elements times plain numbers below p give a plain number.
  Element dot(const Element* a, const Element* b, std::size_t count) const {
    // Sixteen products are below 2^128. Their halves are summed apart: no comparison, which would
    // be guessed wrong every second time.
    Wide low = 0, high = 0;
    std::size_t i = 0;
    while (i < count) {
      Wide sum = 0;
      const std::size_t end = count - i < 16 ? count : i + 16;
      for (; i < end; ++i) sum += static_cast<Wide>(a[i]) * b[i];
      low += static_cast<std::uint64_t>(sum);
      high += sum >> 64U;
    }
    high = (high + (low >> 64U)) % prime_;
    return reduce((high << 64U) + static_cast<std::uint64_t>(low));
  }
  /// a^-1 for a other than 0.
  Element inverse(Element a) const;

 private:
  __extension__ using Wide = unsigned __int128;
  // value / 2^64 mod p, for value < p · 2^64.
  std::uint64_t reduce(Wide value) const {
    const std::uint64_t multiple = static_cast<std::uint64_t>(value) * negative_inverse_;
    const auto high =
        static_cast<std::uint64_t>((value + static_cast<Wide>(multiple) * prime_) >> 64U);
    return high >= prime_ ? high - prime_ : high;
  }

  std::uint64_t prime_;
  std::uint64_t negative_inverse_;  // -1 / p mod 2^64
  Element one_;                     // 2^64 mod p
  Element one_squared_;             // 2^128 mod p
};

/// The largest primes below 2^62, descending, that `admits` takes: as few as have a product of more
/// than `bits` bits.
std::vector<PrimeField> prime_fields(std::size_t bits,
                                     const std::function<bool(std::uint64_t)>& admits);

}  // namespace tempera::reference
