#include "base/utf8.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace tempera {

namespace {

/// What a first byte asks for: how many bytes follow, and the range of the first of them (which
/// rules out overlong forms, surrogates and what is above U+10FFFF). Later ones are in 80..BF.
struct Lead {
  std::size_t followers;
  std::uint8_t least;
  std::uint8_t greatest;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {0, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte >= 0xE0 && byte <= 0xEF) {
    return {2, static_cast<std::uint8_t>(byte == 0xE0 ? 0xA0 : 0x80),
            static_cast<std::uint8_t>(byte == 0xED ? 0x9F : 0xBF)};
  }
  if (byte >= 0xF0 && byte <= 0xF4) {
    return {3, static_cast<std::uint8_t>(byte == 0xF0 ? 0x90 : 0x80),
            static_cast<std::uint8_t>(byte == 0xF4 ? 0x8F : 0xBF)};
  }
  return {0, 1, 0};  // no character starts with it
}

struct Scan {
  std::size_t length;  // of the character, or of the ill-formed part
  bool is_well_formed;
};

/// Reads one character, or one maximal ill-formed part, of a text that is not empty.
Scan scan(std::string_view text) {
  const auto lead = lead_of(static_cast<std::uint8_t>(text[0]));
  if (lead.least > lead.greatest) return {1, false};
  for (std::size_t i = 1; i <= lead.followers; ++i) {
    const std::uint8_t least = i == 1 ? lead.least : 0x80;
    const std::uint8_t greatest = i == 1 ? lead.greatest : 0xBF;
    if (i == text.size()) return {i, false};
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if (byte < least || byte > greatest) return {i, false};
  }
  return {lead.followers + 1, true};
}

/// Whether a character is of Unicode's White_Space.
bool is_white_space(std::string_view character) {
  if (character.size() == 1)
    return character[0] == ' ' || (character[0] >= 9 && character[0] <= 13);
  static const std::array<std::string_view, 19> others{
      "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
      "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
      "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
      "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
  return std::find(others.begin(), others.end(), character) != others.end();
}

}  // namespace

std::size_t utf8_character_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto result = scan(text);
  return result.is_well_formed ? result.length : 0;
}

std::size_t first_invalid_utf8(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    const auto result = scan(text.substr(offset));
    if (!result.is_well_formed) return offset;
    offset += result.length;
  }
  return offset;
}

std::size_t unfinished_utf8(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    const auto rest = text.substr(offset);
    const auto result = scan(rest);
    const auto lead = lead_of(static_cast<std::uint8_t>(rest[0]));
    if (!result.is_well_formed && result.length == rest.size() && lead.least <= lead.greatest)
      return rest.size();
    offset += result.length;
  }
  return 0;
}

std::size_t leading_white_space(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const auto size = utf8_character_length(text.substr(length));
    if (!is_white_space(text.substr(length, size))) break;
    length += size;
  }
  return length;
}

std::size_t trailing_white_space(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    std::size_t size = 1;
    while (size < begin && (static_cast<std::uint8_t>(text[begin - size]) & 0xC0U) == 0x80U) ++size;
    if (!is_white_space(text.substr(begin - size, size))) break;
    begin -= size;
  }
  return text.size() - begin;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [length, is_well_formed] = scan(text);
    result += is_well_formed ? text.substr(0, length) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(length);
  }
  return result;
}

std::string normalize_nfc(std::string_view text) {
  utf8proc_uint8_t* normalized = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &normalized,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(normalized, &std::free);
  if (length < 0) throw std::bad_alloc();  // well-formed text has no other failure
  return std::string(reinterpret_cast<const char*>(normalized), static_cast<std::size_t>(length));
}

}  // namespace tempera
