#include "reference/numbers/lifted_system.hpp"

#include <stdexcept>

#include "reference/numbers/linear_system.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

Integer drawn_words(int words) {
  Integer value = random::between(0, 3);
  for (int i = random::between(0, words); i-- > 0;)
    value = (value << 62U) + Integer(random::between<std::uint64_t>(0, (1ULL << 62U) - 1));
  return random::between(0, 1) == 0 ? value : Integer(-value);
}

std::optional<std::vector<Rational>> eliminated(const IntegerMatrix& a,
                                                const std::vector<Integer>& b) {
  Matrix rational(a.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) rational(i, j) = Rational(a[i][j]);
  return solve(rational, {b.begin(), b.end()});
}

}  // namespace

TEST_CASE("lifted solutions are those of rational elimination") {
  law("systems of 1 to 9 unknowns, of entries of 0 to 8 words and of either sign", [] {
    const auto n = random::between<std::size_t>(1, 9);
    const int words = random::between(0, 8);
    IntegerMatrix a(n, std::vector<Integer>(n));
    std::vector<Integer> b(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] = drawn_words(words);
      // No leading minor is 0.
      a[i][i] = (Integer(1) << static_cast<unsigned>(62 * words + 8)) + drawn_words(words);
      b[i] = drawn_words(random::between(0, 8));
    }
    RC_ASSERT(in_lowest_terms(lifted_solution(a, b)) == eliminated(a, b).value());
  });

  law("denominators that small primes share in every way", [] {
    const auto n = random::between<std::size_t>(2, 6);
    IntegerMatrix a(n, std::vector<Integer>(n));
    std::vector<Integer> b(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i][i] = random::between(1, 60);
      if (i > 0) a[i][i - 1] = random::between(-3, 3);
      b[i] = random::between(-9, 9);
    }
    RC_ASSERT(in_lowest_terms(lifted_solution(a, b)) == eliminated(a, b).value());
  });
}

// The weights of the first two unknowns are those of the combination of which the denominator is
// found first: it is 0 here, and the unknowns' own numerators are longer than its.
TEST_CASE("unknowns are found whose combination says nothing about them") {
  const auto weight = [](std::uint64_t j) { return Integer(j * 0x9E3779B97F4A7C15ULL >> 24U); };
  const Integer large = Integer(1) << 400U;
  const std::vector<Integer> b{weight(2) * large, Integer(-weight(1) * large)};
  CHECK(lifted_solution({{1, 0}, {0, 1}}, b).numerators == b);
  CHECK(in_lowest_terms(lifted_solution({{7, 0}, {0, 7}}, b)) ==
        std::vector<Rational>{Rational(b[0], 7), Rational(b[1], 7)});
}

TEST_CASE("a system of 80 unknowns on all cores solves what it was made from") {
  const std::size_t n = 80;
  IntegerMatrix a(n, std::vector<Integer>(n));
  std::vector<Integer> b(n, 0);
  std::vector<Rational> x;
  std::uint64_t state = 20261121;
  const auto next = [&](std::uint64_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33U) % below;
  };
  for (std::size_t j = 0; j < n; ++j) x.emplace_back(Integer(next(1U << 30U)) - (1 << 29), 30);
  for (std::size_t i = 0; i < n; ++i) {
    Rational sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      a[i][j] =
          (Integer(next(1U << 31U)) << 100U) + next(1U << 20U) + (i == j ? Integer(1) << 140U : 0);
      a[i][j] *= 30;
      sum += Rational(a[i][j]) * x[j];
    }
    b[i] = Integer(numerator(sum));
  }
  CHECK(in_lowest_terms(lifted_solution(a, b)) == x);
}

TEST_CASE("a matrix whose leading minor is 0 is refused") {
  CHECK_THROWS_AS(lifted_solution({{0, 1}, {1, 0}}, {1, 1}), tempera::Bug);
  CHECK_THROWS_AS(lifted_solution({{1, 2}, {2, 4}}, {1, 2}), tempera::Bug);
  CHECK(lifted_solution({}, {}).numerators.empty());
}
