#include "gpu/input/nearest_word.hpp"

#include <array>

#include "tests/law.hpp"

namespace tempera::gpu {

namespace {

// The definition, by recursion.
std::size_t naive_distance(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string rest_a = a.substr(1), rest_b = b.substr(1);
  std::size_t least = naive_distance(rest_a, rest_b) + (a[0] == b[0] ? 0 : 1);
  least = std::min({least, naive_distance(rest_a, b) + 1, naive_distance(a, rest_b) + 1});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0])
    least = std::min(least, naive_distance(a.substr(2), b.substr(2)) + 1);
  return least;
}

}  // namespace

TEST_CASE("the nearest known word is found where one is near", "[nearest_word]") {
  const std::array<std::string_view, 4> known{"horizon", "powers", "rounds", "block"};
  CHECK(nearest_word("horzion", known) == "horizon");
  CHECK(nearest_word("power", known) == "powers");
  CHECK(nearest_word("round", known) == "rounds");
  CHECK(nearest_word("Block", known) == "block");
  CHECK_FALSE(nearest_word("temperature", known));
  CHECK_FALSE(nearest_word("", known));
  CHECK_FALSE(nearest_word(std::string(100000, 'x'), known));
  CHECK_FALSE(nearest_word("x", {}));
  CHECK_FALSE(nearest_word("x", std::array<std::string_view, 2>{"n", "m"}));
  CHECK(nearest_word("at", std::array<std::string_view, 2>{"to", "t"}) == "t");
}

TEST_CASE("laws of the edit distance", "[nearest_word]") {
  law("it is the least number of edits", [] {
    const auto word = [] {
      const auto length = *rc::gen::inRange<std::size_t>(0, 6);
      return *rc::gen::container<std::string>(length, rc::gen::elementOf(std::string("ab")));
    };
    const std::string from = word(), to = word();
    RC_ASSERT(edit_distance(from, to) == naive_distance(from, to));
  });
}

}  // namespace tempera::gpu
