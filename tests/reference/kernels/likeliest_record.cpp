#include "reference/kernels/likeliest_record.hpp"

#include <numeric>

#include "reference/kernels/power_target.hpp"
#include "reference/kernels/tokenwise_law.hpp"
#include "tests/reference/random_model.hpp"

namespace tempera::likeliest_record_test {

using namespace tempera::reference;

namespace {

/// Every tuple of records by itself: the law of the first that is tied with the likeliest.
Law by_tuples(const FixedHorizonSpace& space, const std::vector<Law>& laws) {
  Law answer(space.size());
  std::vector<std::size_t> drawn(laws.size());
  while (true) {
    Rational probability = 1;
    Rational greatest = 0;
    for (std::size_t i = 0; i < laws.size(); ++i) {
      probability *= laws[i][drawn[i]];
      greatest = std::max(greatest, space.likelihood(drawn[i]));
    }
    std::size_t first = 0;
    while (space.likelihood(drawn[first]) * 65536 < greatest * 65535) ++first;
    answer[drawn[first]] += probability;
    std::size_t i = 0;
    while (i < drawn.size() && ++drawn[i] == space.size()) drawn[i++] = 0;
    if (i == drawn.size()) return answer;
  }
}

}  // namespace

TEST_CASE("laws of the likeliest record") {
  law("it is what every tuple of records gives, whatever their laws", [] {
    const FiniteModel model = random::model();
    const FixedHorizonSpace space(model, random::horizon(2));
    std::vector<Law> laws;
    for (int i = random::between(1, 3); i > 0; --i)
      laws.push_back(tokenwise_law(space, random::power()));
    const Law answer = likeliest_record_law(space, laws);
    RC_ASSERT(answer == by_tuples(space, laws));
    RC_ASSERT(std::accumulate(answer.begin(), answer.end(), Rational(0)) == 1);
  });
}

TEST_CASE("the first of those that are tied is taken, also where they are tied only nearly") {
  const Rational p(1, 3), q = Rational(1, 3) + Rational(1, 1'000'000), rest = 1 - p - q;
  const FiniteModel model({"tied", {{"a", "b", "c"}, "test"}, {0, 1, 2}, {}, TokenRow{p, q, rest}},
                          "test");
  const FixedHorizonSpace space(model, 1);
  const Law never_b{Rational(1, 2), Rational(0), Rational(1, 2)};
  const Law only_b{Rational(0), Rational(1), Rational(0)};
  CHECK(likeliest_record_law(space, {never_b, only_b}) == never_b);
  CHECK(likeliest_record_law(space, {only_b, never_b}) == only_b);
}

TEST_CASE("the best of many is nearly certain to be the likeliest, and one is the law itself") {
  const FiniteModel model(
      {"sure", {{"a", "b"}, "test"}, {0, 1}, {}, TokenRow{Rational(3, 4), Rational(1, 4)}}, "test");
  const FixedHorizonSpace space(model, 1);
  const Law base = base_law(space);
  CHECK(likeliest_record_law(space, {base}) == base);
  CHECK(likeliest_record_law(space, std::vector<Law>(10, base))[1] ==
        integer_power(Rational(1, 4), 10));
}

}  // namespace tempera::likeliest_record_test
