// Patterns that a tokenizer.json gives as they are, not as expressions.
#include <nlohmann/json.hpp>

#include "gpu/llm/text/pre_tokenizer.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

TEST_CASE(
    "a pattern that is given as a string matches itself, whatever it means in an expression") {
  const std::string printable =
      R"(!"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~ )";
  REQUIRE(printable.size() == 95);
  const auto words = [](const std::string& pattern, const std::string& text) {
    const nlohmann::json description{{"type", "Split"},
                                     {"pattern", {{"String", pattern}}},
                                     {"behavior", "Isolated"},
                                     {"invert", false}};
    return PreTokenizer(description, "test").words(text, true);
  };
  using Words = std::vector<std::string>;
  for (const char c : printable) {
    CAPTURE(c);
    // Between characters that neither are it nor end what it could begin.
    const std::string one(1, c), around = c == 'x' ? "y" : "x";
    CHECK(words(one, around + one + around) == Words{around, one, around});
    // Two of them, and one of them alone, which is no match.
    CHECK(words(one + around, around + one + around + one) == Words{around, one + around, one});
  }
  CHECK(words("a|b", "a|b a b") == Words{"a|b", " a b"});
  CHECK(words("(.)", "x(.)y") == Words{"x", "(.)", "y"});
}

}  // namespace tempera::gpu
