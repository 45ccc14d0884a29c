#include "gpu/llm/text/byte_alphabet.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tempera::gpu {

namespace {

constexpr std::size_t first_stand_in = 256;
constexpr std::size_t stand_ins = 68;

constexpr bool stands_for_itself(std::size_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

/// The byte that each code point below U+0144 stands for, or -1; and the way back.
struct Alphabet {
  std::array<std::int16_t, first_stand_in + stand_ins> bytes{};
  std::array<std::uint16_t, 256> code_points{};

  constexpr Alphabet() {
    for (auto& byte : bytes) byte = -1;
    std::size_t next = first_stand_in;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::size_t code_point = stands_for_itself(byte) ? byte : next++;
      code_points[byte] = static_cast<std::uint16_t>(code_point);
      bytes[code_point] = static_cast<std::int16_t>(byte);
    }
  }
};

constexpr Alphabet alphabet;
static_assert(alphabet.bytes[first_stand_in + stand_ins - 1] == 0xAD);

}  // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const unsigned code_point = alphabet.code_points[static_cast<std::uint8_t>(c)];
    if (code_point < 0x80) {
      text += static_cast<char>(code_point);
    } else {
      text += static_cast<char>(0xC0 | (code_point >> 6));
      text += static_cast<char>(0x80 | (code_point & 0x3F));
    }
  }
  return text;
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t code_point = static_cast<std::uint8_t>(text[i]);
    if (code_point >= 0x80) {
      if ((code_point & 0xE0) != 0xC0 || i + 1 == text.size()) return std::nullopt;
      code_point = (code_point & 0x1F) << 6 | (static_cast<std::uint8_t>(text[++i]) & 0x3F);
    }
    if (code_point >= alphabet.bytes.size() || alphabet.bytes[code_point] < 0) return std::nullopt;
    bytes += static_cast<char>(alphabet.bytes[code_point]);
  }
  return bytes;
}

}  // namespace tempera::gpu
