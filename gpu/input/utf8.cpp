#include "gpu/input/utf8.hpp"

#include <utf8proc.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace tempera::gpu {

namespace {

/// What a first byte asks for: how many bytes follow, and the range of the first of them (which
/// rules out overlong forms, surrogates and what lies above U+10FFFF). Later ones lie in 80..BF.
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

}  // namespace tempera::gpu
