#include "reference/numbers/reconstruction.hpp"

#include <algorithm>

#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

Integer drawn(int words) {
  Integer value = 1;
  for (int i = 0; i < words; ++i)
    value = (value << 62U) + Integer(random::between<std::uint64_t>(0, (1ULL << 62U) - 1));
  return value;
}

/// By Euclid's algorithm, one division after the other, up to the first remainder below √modulus.
Fraction naive_fraction(const Integer& residue, const Integer& modulus) {
  Integer a = modulus, b = residue, before = 0, of_b = 1;
  while (b * b >= modulus) {
    const Integer quotient = a / b;
    Integer next = a - quotient * b;
    a = b;
    b = next;
    next = before - quotient * of_b;
    before = of_b;
    of_b = next;
  }
  if (of_b < 0) return {Integer(-b), Integer(-of_b)};
  return {b, of_b};
}

}  // namespace

TEST_CASE("a fraction is found again from its residue") {
  law("short and long fractions of either sign, below and above the length of plain steps", [] {
    const int words = random::between(0, 3) == 0 ? 60 : random::between(0, 6);
    const Integer d = drawn(words);
    const Integer n = random::between(0, 1) == 0 ? drawn(words) : Integer(-drawn(words));
    // d must be a unit: the modulus is a power of a large prime.
    const Integer prime = (Integer(1) << 521U) - 1;
    Integer modulus = prime;
    while (modulus <= 4 * (n * n + d * d)) modulus *= prime;
    if (gcd(d, prime) != 1) return;
    Integer inverse;
    mpz_invert(inverse.backend().data(), d.backend().data(), modulus.backend().data());
    Integer residue = n * inverse % modulus;
    if (residue < 0) residue += modulus;
    const Fraction found = shortest_fraction(residue, modulus);
    RC_ASSERT(found.denominator > 0);
    RC_ASSERT(found.numerator * d == n * found.denominator);
    RC_ASSERT(gcd(Integer(abs(found.numerator)), found.denominator) == 1);
    const Fraction naive = naive_fraction(residue, modulus);
    RC_ASSERT(found.numerator == naive.numerator);
    RC_ASSERT(found.denominator == naive.denominator);
  });
}

TEST_CASE("a fraction is the least of all those of its residue, if none is short too") {
  for (const long modulus : {2L, 7L, 64L, 101L, 210L})
    for (long residue = 0; residue < modulus; ++residue) {
      long least = modulus * modulus;
      for (long d = 1; d < modulus; ++d) {
        const long above = d * residue % modulus, n = std::min(above, modulus - above);
        least = std::min(least, n * n + d * d);
      }
      const auto [n, d] = shortest_fraction(residue, modulus);
      CAPTURE(modulus, residue);
      CHECK(d > 0);
      CHECK((n - d * residue) % modulus == 0);
      CHECK(n * n + d * d == least);
    }
}

TEST_CASE("residues of whole numbers, and of nothing short") {
  const Integer modulus = (Integer(1) << 127U) - 1;
  for (const int n : {0, 1, 5}) {
    const Fraction found = shortest_fraction(Integer(n), modulus);
    CHECK(found.numerator == n);
    CHECK(found.denominator == 1);
  }
  const Fraction less = shortest_fraction(modulus - 7, modulus);
  CHECK(less.numerator == -7);
  CHECK(less.denominator == 1);
  const Integer residue = (Integer(1) << 100U) + 12345;
  const Fraction long_one = shortest_fraction(residue, modulus);
  CHECK((long_one.numerator - long_one.denominator * residue) % modulus == 0);
}
