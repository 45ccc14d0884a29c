#include "base/nearest_name.hpp"

#include <array>

#include "tests/law.hpp"

namespace tempera {

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

TEST_CASE("the nearest known name is found where one is near", "[nearest_name]") {
  const std::array<std::string_view, 4> known{"horizon", "powers", "rounds", "block"};
  CHECK(nearest_name("horzion", known) == "horizon");
  CHECK(nearest_name("power", known) == "powers");
  CHECK(nearest_name("round", known) == "rounds");
  CHECK(nearest_name("Block", known) == "block");
  CHECK_FALSE(nearest_name("temperature", known));
  CHECK_FALSE(nearest_name("", known));
  CHECK_FALSE(nearest_name(std::string(100000, 'x'), known));
  CHECK_FALSE(nearest_name("x", std::span<const std::string_view>()));
  CHECK_FALSE(nearest_name("x", std::array<std::string_view, 2>{"n", "m"}));
  CHECK(nearest_name("at", std::array<std::string_view, 2>{"to", "t"}) == "t");
}

TEST_CASE("a misspelt command or key is led to the one it meant", "[nearest_name]") {
  const std::vector<std::string> commands{"help", "sample", "law", "round-trip", "--version"};
  CHECK(nearest_name("sampel", commands) == "sample");
  CHECK(nearest_name("lwa", commands) == "law");
  CHECK(nearest_name("roundtrip", commands) == "round-trip");
  CHECK_FALSE(nearest_name("", commands));
  CHECK_FALSE(nearest_name("simulate", commands));
  CHECK_FALSE(nearest_name(std::string(100'000, 'x'), commands));
  const std::vector<std::string> keys{"name", "vocabulary", "terminal", "next", "default"};
  CHECK(nearest_name("vocabluary", keys) == "vocabulary");
  CHECK(nearest_name("terminals", keys) == "terminal");
  CHECK_FALSE(nearest_name("restart", keys));
  CHECK_FALSE(nearest_name("name", std::vector<std::string>()));
  // Of two that are equally near, the first.
  CHECK(nearest_name("axxx", std::vector<std::string>{"bxxx", "cxxx"}) == "bxxx");
}

TEST_CASE("laws of the edit distance", "[nearest_name]") {
  law("it is the least number of edits", [] {
    const auto word = [] {
      const auto length = *rc::gen::inRange<std::size_t>(0, 6);
      return *rc::gen::container<std::string>(length, rc::gen::elementOf(std::string("ab")));
    };
    const std::string from = word(), to = word();
    RC_ASSERT(edit_distance(from, to) == naive_distance(from, to));
  });
}

}  // namespace tempera
