#include "gpu/llm/text/byte_alphabet.hpp"

#include <set>

#include "base/utf8.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

TEST_CASE("every byte has its own printable character, and back", "[byte_alphabet]") {
  std::set<std::string> characters;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    const auto text = to_byte_alphabet(bytes);
    CHECK(utf8_character_length(text) == text.size());
    CHECK(from_byte_alphabet(text) == bytes);
    characters.insert(text);
  }
  CHECK(characters.size() == 256);
  CHECK(to_byte_alphabet(" a\n") ==
        "\xC4\xA0"
        "a\xC4\x8A");  // U+0120, a, U+010A
}

TEST_CASE("a character that stands for no byte is told", "[byte_alphabet]") {
  for (const char* text : {" ", "\xC5\x84", "\xE2\x82\xAC", "a\xC2\xA0", "\xC4"}) {
    CHECK(from_byte_alphabet(text) == std::nullopt);
  }
}

}  // namespace tempera::gpu
