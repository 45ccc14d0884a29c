#include "base/in_quotes.hpp"

#include "base/utf8.hpp"

namespace tempera {
namespace {

/// Whether a well-formed character moves the cursor or ends a line: U+0000–U+001F, U+007F–U+009F,
/// U+2028 and U+2029, or turns the direction of what follows: U+202A–U+202E, U+2066–U+2069.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (character.size() != 3 || byte(0) != 0xE2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||
         (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
}

std::string shown(std::string_view text, std::size_t longest) {
  // One character more than fits, so that the cut does not look like ill-formed text.
  const std::string whole = replace_invalid_utf8(text.substr(0, longest + 4));
  std::string result;
  for (std::size_t i = 0; i < whole.size();) {
    const std::string_view character =
        std::string_view(whole).substr(i, utf8_character_length(std::string_view(whole).substr(i)));
    if (i + character.size() > longest) return result + "...";
    result += is_control(character) ? std::string_view("?") : character;
    i += character.size();
  }
  return result;
}

}  // namespace

std::string one_line(std::string_view text) { return shown(text, 400); }

std::string in_quotes(std::string_view text) { return '"' + shown(text, 80) + '"'; }

std::string as_shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos)
    return std::string(word);
  std::string quoted = "'";
  for (const char letter : word)
    if (letter == '\'')
      quoted += "'\\''";
    else
      quoted += letter;
  return quoted + "'";
}

}  // namespace tempera
