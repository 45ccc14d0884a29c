#include "lab/enumerate/tree_lottery.hpp"

#include <map>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera;
using lab::Rational;

TEST_CASE("a tree of two draws has the product law") {
  std::map<std::pair<std::size_t, std::size_t>, Rational> law_of;
  std::pair<std::size_t, std::size_t> outcome;
  const std::size_t paths = lab::enumerate(
      [&](gpu::Lottery& lottery) {
        const std::vector<std::uint64_t> first{1, 0, 2};
        outcome.first = lottery.draw(first, {});
        const std::vector<std::uint64_t> second{3, 1 + outcome.first};
        outcome.second = lottery.draw(second, {});
      },
      [&](const Rational& probability) { law_of[outcome] += probability; });
  CHECK(paths == 4);
  CHECK(law_of[{0, 0}] == Rational(1, 3) * Rational(3, 4));
  CHECK(law_of[{0, 1}] == Rational(1, 3) * Rational(1, 4));
  CHECK(law_of[{2, 0}] == Rational(2, 3) * Rational(3, 6));
  CHECK(law_of[{2, 1}] == Rational(2, 3) * Rational(3, 6));
}

TEST_CASE("the paths of any program have total probability one") {
  law("random trees of up to four draws", [](const std::vector<std::uint8_t>& shape) {
    Rational total = 0;
    lab::enumerate(
        [&](gpu::Lottery& lottery) {
          std::size_t state = 0;
          for (std::size_t depth = 0; depth < std::min<std::size_t>(4, shape.size()); ++depth) {
            const std::vector<std::uint64_t> tickets{shape[depth], state % 3, 1};
            state = 2 * state + lottery.draw(tickets, {});
          }
        },
        [&](const Rational& probability) { total += probability; });
    RC_ASSERT(total == Rational(1));
  });
}

TEST_CASE("a program that is not deterministic is found out") {
  std::uint64_t runs = 0;
  const auto program = [&](gpu::Lottery& lottery) {
    const std::vector<std::uint64_t> tickets{1, ++runs};
    lottery.draw(tickets, {});
  };
  CHECK_THROWS_AS(lab::enumerate(program, [](const Rational&) {}), lab::NotEnumerable);
}

TEST_CASE("a word that a program has asked for and not drawn with is found out") {
  const std::vector<std::uint64_t> tickets{1, 2};
  const auto program = [&](gpu::Lottery& lottery) { lottery.word(tickets, {}); };
  CHECK_THROWS_AS(lab::enumerate(program, [](const Rational&) {}), lab::NotEnumerable);
}

TEST_CASE("a draw that loses the last word of an outcome is found out") {
  const std::vector<std::uint64_t> tickets{1, 1};
  const auto program = [&](gpu::Lottery& lottery) {
    const gpu::Word word = lottery.word(tickets, {});
    lottery.won({}, word.limb[3] >= 0x7FFFFFFFU ? 1 : 0);
  };
  const auto fair = [&](gpu::Lottery& lottery) {
    const gpu::Word word = lottery.word(tickets, {});
    lottery.won({}, word.limb[3] >= 0x80000000U ? 1 : 0);
  };
  const auto again = [](const auto& draw) {
    return [&draw](gpu::Lottery& lottery) {
      for (int i = 0; i < 3; ++i) draw(lottery);
    };
  };
  CHECK_THROWS_AS(lab::enumerate(again(program), [](const Rational&) {}), Bug);
  CHECK(lab::enumerate(again(fair), [](const Rational&) {}) == 8);
}
