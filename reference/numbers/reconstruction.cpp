#include "reference/numbers/reconstruction.hpp"

#include <cstdint>
#include <utility>

namespace tempera::reference {
namespace {

// Below this many bits Euclid's algorithm goes step by step.
constexpr std::size_t small_bits = 2048;

// Rows of whole numbers with determinant 1 or -1.
struct Steps {
  Integer aa = 1, ab = 0, ba = 0, bb = 1;
};

// Numbers a >= b >= 0, and how they came from those that they were.
struct Pair {
  Integer a, b;
  Steps steps;

  void divide() {
    const Integer quotient = a / b;
    const auto step = [&](Integer& upper, Integer& lower) {
      upper -= quotient * lower;
      std::swap(upper, lower);
    };
    step(a, b);
    step(steps.aa, steps.ba);
    step(steps.ab, steps.bb);
  }

  // Takes as many steps as the leading 62 bits of both tell, or one.
  void divide_by_leading_bits() {
    constexpr std::uint64_t least = std::uint64_t{1} << 31U;
    const std::size_t dropped = length_in_bits(a) > 62 ? length_in_bits(a) - 62 : 0;
    auto x = static_cast<std::uint64_t>(Integer(a >> dropped));
    auto y = static_cast<std::uint64_t>(Integer(b >> dropped));
    if (y < least) return divide();
    // No entry exceeds 2^62 / 2^31.
    std::int64_t aa = 1, ab = 0, ba = 0, bb = 1;
    while (y >= least) {
      const std::uint64_t quotient = x / y;
      x = std::exchange(y, x - quotient * y);
      aa = std::exchange(ba, aa - static_cast<std::int64_t>(quotient) * ba);
      ab = std::exchange(bb, ab - static_cast<std::int64_t>(quotient) * bb);
    }
    apply({aa, ab, ba, bb});
  }

  // Steps of the leading bits alone may leave a pair that is negative or in the wrong order; rows
  // may change sign and place, since only what they span counts.
  void apply(const Steps& more) {
    const auto column = [&](Integer& upper, Integer& lower) {
      Integer next = more.aa * upper + more.ab * lower;
      lower = more.ba * upper + more.bb * lower;
      upper = std::move(next);
    };
    column(a, b);
    column(steps.aa, steps.ba);
    column(steps.ab, steps.bb);
    if (a < 0) negate(a, steps.aa, steps.ab);
    if (b < 0) negate(b, steps.ba, steps.bb);
    if (a >= b) return;
    std::swap(a, b);
    std::swap(steps.aa, steps.ba);
    std::swap(steps.ab, steps.bb);
  }

 private:
  static void negate(Integer& value, Integer& of_a, Integer& of_b) {
    value = -value;
    of_a = -of_a;
    of_b = -of_b;
  }
};

// Steps that bring b to half the bits of a, or about.
Steps half_of(Integer a, Integer b) {
  const std::size_t length = length_in_bits(a);
  const std::size_t wanted = length / 2 + 1;
  Pair pair{std::move(a), std::move(b), {}};
  if (length > small_bits && length_in_bits(pair.b) > wanted) {
    const auto leading = [&](std::size_t dropped) {
      return half_of(Integer(pair.a >> dropped), Integer(pair.b >> dropped));
    };
    pair.apply(leading(length / 2));
    if (length_in_bits(pair.b) > wanted) pair.divide();
    const std::size_t rest = length_in_bits(pair.a);
    if (length_in_bits(pair.b) > wanted && rest < length) pair.apply(leading(length - rest));
  }
  while (length_in_bits(pair.b) > wanted + 32) pair.divide_by_leading_bits();
  while (length_in_bits(pair.b) > wanted) pair.divide();
  return std::move(pair.steps);
}

// a / b to the nearest whole number, b > 0.
Integer nearest(const Integer& a, const Integer& b) {
  const Integer twice = 2 * a + b;
  Integer quotient = twice / (2 * b);
  if (twice < 0 && quotient * 2 * b != twice) quotient -= 1;
  return quotient;
}

}  // namespace

Fraction shortest_fraction(const Integer& residue, const Integer& modulus) {
  // The pairs (n, d) are the lattice of (modulus, 0) and (residue, 1): Euclid's steps bring its
  // basis to vectors of about √modulus, and Gauss's find the shortest.
  const Steps steps = half_of(modulus, residue);
  Fraction shorter{steps.ba * modulus + steps.bb * residue, steps.bb};
  Fraction longer{steps.aa * modulus + steps.ab * residue, steps.ab};
  const auto product = [](const Fraction& x, const Fraction& y) {
    return Integer(x.numerator * y.numerator + x.denominator * y.denominator);
  };
  while (true) {
    if (product(longer, longer) < product(shorter, shorter)) std::swap(shorter, longer);
    const Integer quotient = nearest(product(shorter, longer), product(shorter, shorter));
    if (quotient == 0) break;
    longer.numerator -= quotient * shorter.numerator;
    longer.denominator -= quotient * shorter.denominator;
  }
  if (shorter.denominator == 0) std::swap(shorter, longer);
  if (shorter.denominator < 0)
    shorter = {Integer(-shorter.numerator), Integer(-shorter.denominator)};
  return shorter;
}

}  // namespace tempera::reference
