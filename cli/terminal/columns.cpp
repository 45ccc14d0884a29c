#include "cli/terminal/columns.hpp"

#include <utf8proc.h>

#include <charconv>
#include <functional>

#include "base/utf8.hpp"

namespace tempera::cli {
namespace {

/// Every character of well-formed UTF-8 with its width: 0, 1 or 2 columns.
void each_character(std::string_view text,
                    const std::function<void(std::string_view, std::size_t)>& visit) {
  for (std::size_t i = 0; i < text.size();) {
    utf8proc_int32_t code = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + i,
                                         static_cast<utf8proc_ssize_t>(text.size() - i), &code);
    const int width = utf8proc_charwidth(code);
    visit(text.substr(i, static_cast<std::size_t>(length)),
          static_cast<std::size_t>(width > 0 ? width : 0));
    i += static_cast<std::size_t>(length);
  }
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  return first < 0x20 || first == 0x7F ||
         (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

std::string printable(std::string_view text) {
  std::string result;
  each_character(replace_invalid_utf8(text), [&](std::string_view character, std::size_t) {
    result += is_control(character) ? std::string_view("?") : character;
  });
  return result;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  each_character(replace_invalid_utf8(text),
                 [&](std::string_view, std::size_t width) { columns += width; });
  return columns;
}

std::string fitted(std::string_view text, std::size_t columns) {
  std::string whole = printable(text);
  if (columns_of(whole) <= columns) return whole;
  const std::size_t room = columns < 3 ? 0 : columns - 3;
  std::string result;
  std::size_t taken = 0;
  bool is_full = false;
  each_character(whole, [&](std::string_view character, std::size_t width) {
    is_full = is_full || taken + width > room;
    if (is_full) return;
    result += character;
    taken += width;
  });
  return result + std::string("...").substr(0, columns - taken < 3 ? columns - taken : 3);
}

std::string spaced_json(const std::string& json) {
  std::string spaced;
  bool is_in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    spaced += json[i];
    if (json[i] == '\\' && i + 1 < json.size())
      spaced += json[++i];
    else if (json[i] == '"')
      is_in_text = !is_in_text;
    else if (json[i] == ',' && !is_in_text)
      spaced += ' ';
  }
  return spaced;
}

std::string decimal_of(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end);
}

std::string decimals_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + decimal_of(value);
  return text;
}

}  // namespace tempera::cli
