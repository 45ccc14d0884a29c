#include "reference/kernels/blockwise_rejection.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/exact_rejection.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/tokenwise_law.hpp"
#include "tests/reference/random_model.hpp"

namespace tempera::blockwise_rejection_test {

using namespace tempera;
using namespace tempera::reference;

namespace {

/// p0 of the tokens that begin a record: the sum over all records that begin so.
Rational mass(const FixedHorizonSpace& space, const std::vector<Token>& prefix) {
  Rational sum = 0;
  for (std::size_t x = 0; x < space.size(); ++x) {
    const auto& tokens = space[x].tokens;
    if (tokens.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), tokens.begin()))
      sum += space.likelihood(x);
  }
  return sum;
}

/// The beginnings of at most `length` tokens of the records that begin with `prefix`, each once.
std::vector<std::vector<Token>> beginnings(const FixedHorizonSpace& space,
                                           const std::vector<Token>& prefix, std::size_t length) {
  std::vector<std::vector<Token>> found;
  for (std::size_t x = 0; x < space.size(); ++x) {
    const auto& tokens = space[x].tokens;
    if (tokens.size() < prefix.size() ||
        !std::equal(prefix.begin(), prefix.end(), tokens.begin()) || space.likelihood(x) == 0)
      continue;
    std::vector<Token> part(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(
                                                                 std::min(length, tokens.size())));
    if (std::ranges::find(found, part) == found.end()) found.push_back(part);
  }
  return found;
}

/// A record's probability, block by block, from masses of prefixes alone.
Rational naive(const FixedHorizonSpace& space, std::size_t block, const Power& power,
               const std::vector<Token>& record) {
  Rational probability = 1;
  std::vector<Token> prefix;
  while (prefix.size() < record.size()) {
    const std::size_t end = prefix.size() + block;
    const std::vector<Token> next(
        record.begin(), record.begin() + static_cast<std::ptrdiff_t>(std::min(end, record.size())));
    Rational total = 0;
    for (const auto& other : beginnings(space, prefix, end))
      total += power.raise(mass(space, other) / mass(space, prefix));
    probability *= power.raise(mass(space, next) / mass(space, prefix)) / total;
    prefix = next;
  }
  return probability;
}

}  // namespace

TEST_CASE("laws of rejection by blocks") {
  law("a record has the product of its blocks' powers, each over the blocks in its place", [] {
    const FiniteModel model = random::model();
    const FixedHorizonSpace space(model, random::horizon(3));
    const Power power(Rational(random::between(1, 3)));
    const auto block = static_cast<std::size_t>(random::between(1, 3));
    const BlockwiseLaw found = blockwise_rejection_law(space, block, power);
    for (std::size_t x = 0; x < space.size(); ++x)
      if (space.likelihood(x) != 0)
        RC_ASSERT(found.answer[x] == naive(space, block, power, space[x].tokens));
  });
  law("blocks of one token are tokenwise sampling, and one block is exact rejection", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(3);
    const FixedHorizonSpace space(model, horizon);
    const Power power = random::power();
    RC_PRE(power.value() >= 1);
    RC_ASSERT(blockwise_rejection_law(space, 1, power).answer == tokenwise_law(space, power));
    const BlockwiseLaw whole = blockwise_rejection_law(
        space, horizon + static_cast<std::size_t>(random::between(0, 1)), power);
    RC_ASSERT(whole.answer == power_target(space, power));
    const RejectionLaw one = rejection_law(space, power, horizon);
    RC_ASSERT(whole.tokens == one.tokens / one.drawn);
  });
}

// docs/explanation/when_ppt_helps.md has these figures, by bench/blocks.cpp.
TEST_CASE("rejection by blocks of three tokens is far from the target of four, and cheaper") {
  const FiniteModel model = load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/bimodal.json");
  const FixedHorizonSpace space(model, 4);
  const BlockwiseLaw found = blockwise_rejection_law(space, 3, Power(4));
  const Rational tv = total_variation(found.answer, power_target(space, Power(4)));
  CHECK(tv > Rational(475) / 1000);
  CHECK(tv < Rational(485) / 1000);
  CHECK(found.tokens > Rational(12245) / 100);
  CHECK(found.tokens < Rational(12255) / 100);
}

TEST_CASE("blocks that cannot be drawn are refused") {
  const FiniteModel model = {
      {"two", {{"a", "e"}, "test"}, {1}, {}, TokenRow{Rational(1) / 2, Rational(1) / 2}}, "test"};
  const FixedHorizonSpace space(model, 2);
  CHECK_THROWS_AS(blockwise_rejection_law(space, 0, Power(2)), BadInput);
  CHECK_THROWS_AS(blockwise_rejection_law(space, 1, Power(Rational(1) / 2)), BadInput);
  // (e) has 1/2 in the first block and after (a): blocks of one token give (e) 1/2, p0^2 gives 2/3.
  const std::size_t short_one = space.find(std::vector<Token>{1}).value();
  CHECK(blockwise_rejection_law(space, 1, Power(2)).answer[short_one] == Rational(1) / 2);
  CHECK(blockwise_rejection_law(space, 2, Power(2)).answer[short_one] == Rational(2) / 3);
  // A proposal that dies at the block's first prefix draws no token: one for (e), two for the rest.
  CHECK(blockwise_rejection_law(space, 1, Power(2)).tokens == Rational(3) / 2);
}

}  // namespace tempera::blockwise_rejection_test
