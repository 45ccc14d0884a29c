#include "gpu/text/added_tokens.hpp"

#include "tests/catch.hpp"

namespace tempera::gpu {

TEST_CASE("the leftmost token is found, the longest of those at one place", "[added_tokens]") {
  AddedTokens tokens;
  tokens.add("<a>", 1);
  tokens.add("<a><b>", 2);
  tokens.add("<b>", 3);
  std::string result;
  for (const auto& piece : tokens.split("x<a><b><b><a><a")) {
    result += piece.id ? std::to_string(*piece.id) : std::string(piece.text);
    result += '|';
  }
  CHECK(result == "x|2|3|1|<a|");
  CHECK(tokens.split("").empty());
}

}  // namespace tempera::gpu
