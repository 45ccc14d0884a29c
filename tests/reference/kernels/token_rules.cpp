#include "reference/kernels/token_rules.hpp"

#include <numeric>

#include "reference/kernels/tokenwise_law.hpp"
#include "reference/numbers/interval.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

/// a: 5/12, b and c: 1/4 each, e, which ends a record: 1/12; after "a" there is e alone.
FiniteModel model_of_ties() {
  return {{"ties",
           {{"a", "b", "c", "e"}, "test"},
           {3},
           {{{0}, {Rational(0), Rational(0), Rational(0), Rational(1)}}},
           TokenRow{Rational(5, 12), Rational(1, 4), Rational(1, 4), Rational(1, 12)}},
          "test"};
}

}  // namespace

TEST_CASE("the tokens that rules leave, by hand") {
  const FiniteModel model = model_of_ties();
  const auto row = [&](const TokenRules& rules, unsigned power = 1) {
    return ruled_proposal(model, {}, Power(power), rules);
  };
  const TokenRow all = model.token_row({});
  const TokenRow first{1, 0, 0, 0};
  const TokenRow three{Rational(5, 11), Rational(3, 11), Rational(3, 11), 0};
  CHECK(row({}) == all);
  CHECK(row({.top_k = 1}) == first);
  CHECK(row({.top_k = 2}) == three);
  CHECK(row({.top_k = 3}) == three);
  CHECK(row({.top_k = 4}) == all);
  CHECK(row({.min_p = Rational(3, 5)}) == three);
  CHECK(row({.min_p = Rational(3, 5)}, 2) == first);
  CHECK(row({.min_p = Rational(9, 25)}, 2) ==
        TokenRow{Rational(25, 43), Rational(9, 43), Rational(9, 43), 0});
  CHECK(row({.top_p = Rational(5, 12)}) == first);
  CHECK(row({.top_p = Rational(1, 2)}) == three);
  CHECK(row({.top_p = Rational(11, 12)}) == three);
  CHECK(row({.top_p = Rational(12, 13)}) == all);
  CHECK(row({.top_k = 3, .top_p = Rational(5, 11)}) == first);
  CHECK(row({.min_tokens = 1}) == three);
  CHECK(row({.ignores_terminal = true}) == three);
  const std::vector<Token> b{1}, a{0};
  CHECK(ruled_proposal(model, b, Power(1), {.min_tokens = 1}) == all);
  // A terminal token that is all there is stays.
  CHECK(ruled_proposal(model, a, Power(1), {.ignores_terminal = true}) == TokenRow{0, 0, 0, 1});
}

TEST_CASE("the weights that penalties leave, by hand") {
  const FiniteModel model = model_of_ties();
  const std::vector<Token> bbc{1, 1, 2};
  const auto row = [&](const TokenRules& rules, unsigned power = 1) {
    return ruled_proposal(model, bbc, Power(power), rules);
  };
  // The square of what a record has, so that nothing is rounded by more than 2^-160.
  const Rational sum = Rational(5, 12) + Rational(1, 16) + Rational(1, 16) + Rational(1, 12);
  const TokenRow squared{Rational(5, 12) / sum, Rational(1, 16) / sum, Rational(1, 16) / sum,
                         Rational(1, 12) / sum};
  const auto is_near = [](const TokenRow& a, const TokenRow& b) {
    const Rational grain(1, Integer(1) << 150);
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const auto& x, const auto& y) { return abs(x - y) <= grain; });
  };
  CHECK(is_near(row({.repetition = 2}), squared));
  // Once for presence; for each time for frequency; both before the power.
  const auto ratios = [&](const TokenRules& rules, unsigned power) {
    const TokenRow found = row(rules, power);
    return std::pair(found[1] / found[0], found[2] / found[0]);
  };
  const auto taken = [](const Rational& from, const Rational& exponent) {
    return (Interval(from, 200) * exp(Interval(-exponent, 200))).lower();
  };
  const Rational grain(1, Integer(1) << 150);
  for (const unsigned power : {1U, 2U}) {
    const Rational odds = power == 1 ? Rational(3, 5) : Rational(9, 25);
    const auto [b, c] = ratios({.presence = Rational(1, 2)}, power);
    CHECK(b == c);
    CHECK(abs(b - taken(odds, Rational(power, 2))) <= grain);
    const auto [twice, once] = ratios({.frequency = Rational(1, 3), .presence = -1}, power);
    CHECK(abs(twice - taken(odds, Rational(power) * Rational(-1, 3))) <= grain);
    CHECK(abs(once - taken(odds, Rational(power) * Rational(-2, 3))) <= grain);
  }
  // The weights that the penalties leave decide which tokens are cut.
  CHECK(row({.repetition = 2, .top_k = 2}) == TokenRow{Rational(5, 6), 0, 0, Rational(1, 6)});
}

TEST_CASE("laws of tokenwise sampling under rules") {
  law("rules that leave all are none, and every law sums to one", [] {
    const FiniteModel model = random::model();
    const FixedHorizonSpace space(model, random::horizon());
    const Power power = random::power();
    RC_ASSERT(ruled_tokenwise_law(space, power, {}) == tokenwise_law(space, power));
    TokenRules rules;
    rules.min_tokens = *rc::gen::inRange<std::size_t>(0, 3);
    rules.top_k = *rc::gen::inRange<std::size_t>(0, 4);
    rules.min_p = Rational(*rc::gen::inRange(0, 5), 4);
    rules.top_p = Rational(*rc::gen::inRange(1, 5), 4);
    const Law law = ruled_tokenwise_law(space, power, rules);
    RC_ASSERT(std::accumulate(law.begin(), law.end(), Rational(0)) == 1);
  });
}
