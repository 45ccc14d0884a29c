#include "gpu/llm/text/split_pattern.hpp"

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {

namespace {

std::string pieces(const std::string& expression, const std::string& text) {
  std::string result;
  for (const auto& piece : SplitPattern(expression, "here").split(text)) {
    result += piece.is_match ? '[' : '(';
    result += piece.text;
    result += piece.is_match ? ']' : ')';
  }
  return result;
}

}  // namespace

TEST_CASE("an expression cuts a text into matches and what is between", "[split_pattern]") {
  CHECK(pieces("b+", "abbacb") == "(a)[bb](ac)[b]");
  CHECK(pieces("", "a\xC3\xA9z") == "(a)(\xC3\xA9)(z)");
  CHECK(pieces("x*", "axb") == "(a)[x](b)");
  CHECK(pieces("\\p{L}+", "\xD0\xB6z1\xE7\x8B\x90") == "[\xD0\xB6z](1)[\xE7\x8B\x90]");
  CHECK(pieces("a", "").empty());
  CHECK(pieces("\\s+(?!\\S)|\\s+", "a   b") == "(a)[  ][ ](b)");
}

TEST_CASE("an expression that fails is refused by its place", "[split_pattern]") {
  require_bad_input([] { pieces("a(b", ""); }, {"here", "byte 3"});
  require_bad_input([] { pieces("\\C", ""); }, {"here", "regular expression"});
  // Backtracking that doubles with every character.
  require_bad_input([] { pieces("^(a|a)*[^a]", std::string(40, 'a')); }, {"here", "this text"});
}

TEST_CASE("the pieces are the text", "[split_pattern]") {
  law("joined in order they give it back", [] {
    const SplitPattern pattern("a|b?|\\s+(?=c)", "here");
    const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c', ' ', '\n'));
    std::string joined;
    for (const auto& piece : pattern.split(text)) {
      RC_ASSERT_FALSE(piece.text.empty());
      joined += piece.text;
    }
    RC_ASSERT(joined == text);
  });
}

}  // namespace tempera::gpu
