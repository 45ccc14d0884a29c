#include "reference/in_quotes.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace tempera::reference {
namespace {

/// The inside of a JSON string for the first `longest` bytes: control characters below U+0020
/// escaped, invalid UTF-8 replaced.
std::string inside_quotes(std::string_view text, std::size_t longest) {
  std::size_t end = std::min(text.size(), longest);
  // Not within a character: the continuation bytes at the cut go with their first byte.
  if (end < text.size())
    while (end > 0 && longest - end < 4 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
      --end;
  std::string shown(text.substr(0, end));
  if (end < text.size()) shown += "...";
  const std::string quoted =
      nlohmann::json(shown).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

/// Escapes what JSON lets stand and a terminal obeys: DEL, U+0080–U+009F, the line separators
/// U+2028 and U+2029 and the marks of direction U+202A–U+202E, U+2066–U+2069.
std::string without_terminal_controls(const std::string& text) {
  std::string result;
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    std::size_t length = 1;
    if (byte(i) == 0x7F) {
      code = 0x7F;
    } else if (byte(i) == 0xC2 && byte(i + 1) < 0xA0) {
      code = byte(i + 1);
      length = 2;
    } else if (byte(i) == 0xE2 &&
               ((byte(i + 1) == 0x80 && byte(i + 2) >= 0xA8 && byte(i + 2) <= 0xAE) ||
                (byte(i + 1) == 0x81 && byte(i + 2) >= 0xA6 && byte(i + 2) <= 0xA9))) {
      code = 0x2000U + ((byte(i + 1) & 0x3FU) << 6) + (byte(i + 2) & 0x3FU);
      length = 3;
    }
    if (code == 0) {
      result += text[i];
      continue;
    }
    char escape[12];
    std::snprintf(escape, sizeof escape, "\\u%04x", code);
    result += escape;
    i += length - 1;
  }
  return result;
}

}  // namespace

std::string one_line(std::string_view text) {
  const std::string escaped = without_terminal_controls(inside_quotes(text, 400));
  std::string result;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    // Quotes and backslashes are no danger to the line, and our own messages hold both.
    const bool is_needless = escaped[i] == '\\' && i + 1 < escaped.size() &&
                             (escaped[i + 1] == '"' || escaped[i + 1] == '\\');
    if (is_needless) ++i;
    result += escaped[i];
  }
  return result;
}

std::string in_quotes(std::string_view text) {
  return '"' + without_terminal_controls(inside_quotes(text, 80)) + '"';
}

}  // namespace tempera::reference
