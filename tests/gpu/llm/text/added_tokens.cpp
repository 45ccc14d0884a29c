#include "gpu/llm/text/added_tokens.hpp"

#include "base/json_document.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

TEST_CASE("the leftmost token is found, the longest of those at one place", "[added_tokens]") {
  AddedTokens tokens;
  tokens.add("<a>", 1, {});
  tokens.add("<a><b>", 2, {});
  tokens.add("<b>", 3, {});
  std::string result;
  for (const auto& piece : tokens.split("x<a><b><b><a><a")) {
    result += piece.id ? std::to_string(*piece.id) : std::string(piece.text);
    result += '|';
  }
  CHECK(result == "x|2|3|1|<a|");
  CHECK(tokens.split("").empty());
}

TEST_CASE("a token takes in the white space beside it where it says so", "[added_tokens]") {
  AddedTokens tokens;
  tokens.add("<b>", 1, {true, false});
  tokens.add("<a>", 2, {false, true});
  tokens.add("<n>", 3, {});
  const auto pieces = [&](std::string_view text) {
    std::string result;
    for (const auto& piece : tokens.split(text)) {
      result += (piece.id ? std::to_string(*piece.id) : "") + '[' + std::string(piece.text) + ']';
    }
    return result;
  };
  CHECK(pieces(" x  <b>  y") == "[ x]1[  <b>][  y]");
  CHECK(pieces(" x  <a>  y") == "[ x  ]2[<a>  ][y]");
  CHECK(pieces(" x  <n>  y") == "[ x  ]3[<n>][  y]");
  // What one has taken is not there for the next.
  CHECK(pieces("<a> <b> ") == "2[<a> ]1[<b>][ ]");
  CHECK(pieces("<a>\t\xC2\xA0\xE3\x80\x80\n<n>") == "2[<a>\t\xC2\xA0\xE3\x80\x80\n]3[<n>]");
  CHECK(pieces("\xE2\x80\x8B <b>") == "[\xE2\x80\x8B]1[ <b>]");
}

TEST_CASE("a token that begins in white space which another one takes is found all the same",
          "[added_tokens]") {
  AddedTokens tokens;
  tokens.add("<a>", 1, {false, true});
  tokens.add(" <b>", 2, {});
  tokens.add("  ", 3, {});
  tokens.add("\n", 4, {false, true});
  tokens.add("<c>", 5, {true, false});
  const auto pieces = [&](std::string_view text) {
    std::string result;
    for (const auto& piece : tokens.split(text))
      result += piece.id ? std::to_string(*piece.id) : '[' + std::string(piece.text) + ']';
    return result;
  };
  CHECK(pieces("<a> <b>x") == "12[x]");
  CHECK(pieces("<a> <b> x") == "12[ x]");
  CHECK(pieces("<a>  x") == "13[x]");
  // The text goes on after the last of them, and not after the white space of the first.
  CHECK(pieces("<a>   x") == "13[ x]");
  CHECK(pieces("<a>\n \n x") == "144[x]");
  CHECK(pieces("<a>  <c>") == "135");
  CHECK(pieces("<a>   <c>") == "135");
  CHECK(pieces("x <c> <c>") == "[x]55");
  CHECK(pieces("<a> <c>") == "15");
}

TEST_CASE("a token that takes in white space before it is not found in what another has taken",
          "[added_tokens]") {
  AddedTokens tokens;
  tokens.add("<a>", 1, {false, true});
  tokens.add("  ", 2, {true, true});
  tokens.add("\n", 3, {true, false});
  const auto pieces = [&](std::string_view text) {
    std::string result;
    for (const auto& piece : tokens.split(text))
      result += piece.id ? std::to_string(*piece.id) : '[' + std::string(piece.text) + ']';
    return result;
  };
  CHECK(pieces("    x") == "2[x]");
  CHECK(pieces("<a>  x") == "1[x]");
  CHECK(pieces("<a> \n") == "1");
  CHECK(pieces("<a>x  \n") == "1[x]2");
  CHECK(pieces("x \n\nx") == "[x]33[x]");
}

TEST_CASE("added tokens are found as Hugging Face tokenizers finds them", "[added_tokens]") {
  // Random tokens and texts, white space beside white space (make_added.py).
  const auto sets = read_json_file(std::filesystem::path(TEMPERA_SOURCE_DIR) /
                                   "tests/fixtures/tokenizer/added_tokens.json");
  REQUIRE(sets.size() == 24);
  for (const auto& set : sets) {
    CAPTURE(set["added"].dump());
    AddedTokens tokens;
    std::uint32_t id = 0;
    for (const auto& added : set["added"])
      tokens.add(added[0], id++, {added[1].get<bool>(), added[2].get<bool>()});
    for (const auto& entry : set["cases"]) {
      const auto text = entry[0].get<std::string>();
      auto found = nlohmann::json::array();
      for (const auto& piece : tokens.split(text)) {
        if (piece.id)
          found.emplace_back(*piece.id);
        else
          found.emplace_back(piece.text);
      }
      CHECK(found == entry[1]);
    }
  }
}

}  // namespace tempera::gpu
