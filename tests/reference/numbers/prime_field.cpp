#include "reference/numbers/prime_field.hpp"

#include "reference/numbers/residues.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

const auto all = [](std::uint64_t) { return true; };

// An integer of up to `limbs` words, of either sign.
Integer drawn_integer(int limbs) {
  Integer value = 0;
  for (int i = random::between(1, limbs); i-- > 0;)
    value = (value << 62U) + Integer(random::between<std::uint64_t>(0, (1ULL << 62U) - 1));
  return random::between(0, 1) == 0 ? value : Integer(-value);
}

}  // namespace

TEST_CASE("laws of residues") {
  law("a field computes what integers modulo its prime do", [] {
    const PrimeField field = prime_fields(1, all).front();
    const Integer p(field.prime());
    const Integer a = drawn_integer(3), b = drawn_integer(3);
    const auto number = [&](const Integer& value) {
      return std::uint64_t(Integer(((value % p) + p) % p));
    };
    const auto x = field.of(a), y = field.of(b);
    RC_ASSERT(field.number(x) == number(a));
    RC_ASSERT(field.number(field.add(x, y)) == number(a + b));
    RC_ASSERT(field.number(field.subtract(x, y)) == number(a - b));
    RC_ASSERT(field.number(field.multiply(x, y)) == number(a * b));
    if (y == 0) return;
    RC_ASSERT(field.multiply(field.inverse(y), y) == field.one());
    RC_ASSERT(field.multiply(field.of(Rational(a) / Rational(b)), y) == x);
  });

  law("a sum of products is reduced once, of the largest elements too", [] {
    const auto fields = prime_fields(200, all);
    const PrimeField& field = fields[random::between<std::size_t>(0, fields.size() - 1)];
    const auto count = random::between<std::size_t>(0, 40);
    std::vector<PrimeField::Element> a(count), b(count);
    PrimeField::Element sum = 0;
    const bool largest = random::between(0, 1) == 0;
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = largest ? field.prime() - 1 : field.of(drawn_integer(2));
      b[i] = largest ? field.prime() - 1 : field.of(drawn_integer(2));
      sum = field.add(sum, field.multiply(a[i], b[i]));
    }
    RC_ASSERT(field.dot(a.data(), b.data(), count) == sum);
  });

  law("an integer is put together from its residues, with its sign", [] {
    const Residues residues(prime_fields(62 * 7 + 2, all));
    const Integer value = drawn_integer(7);
    std::vector<PrimeField::Element> elements;
    for (const PrimeField& field : residues.fields()) elements.push_back(field.of(value));
    RC_ASSERT(residues.signed_integer(elements) == value);
    // A single wrong residue is another number.
    elements[3] = residues.fields()[3].add(elements[3], residues.fields()[3].one());
    RC_ASSERT(residues.signed_integer(elements) != value);
  });
}

TEST_CASE("fields have different primes, enough of them, and those only that are admitted") {
  const auto fields = prime_fields(1000, all);
  Integer product = 1;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    CHECK(fields[i].prime() > std::uint64_t{1} << 61U);
    CHECK(fields[i].prime() < std::uint64_t{1} << 62U);
    if (i > 0) CHECK(fields[i].prime() < fields[i - 1].prime());
    product *= fields[i].prime();
  }
  CHECK(msb(product) >= 1000);
  // 2^62 - 57 is the largest prime below 2^62.
  CHECK(fields.front().prime() == (std::uint64_t{1} << 62U) - 57);
  const auto others = prime_fields(1, [&](std::uint64_t p) { return p != fields[0].prime(); });
  CHECK(others.front().prime() == fields[1].prime());
}
