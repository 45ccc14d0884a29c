#include "runs/packed_tokens.hpp"

#include <cstdint>

#include "base/error.hpp"

namespace tempera::gpu {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string packed_tokens(std::span<const TokenId> tokens) {
  std::string text;
  std::uint32_t bits = 0;
  unsigned held = 0;
  const auto put = [&](std::uint32_t byte) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 6;) {
      held -= 6;
      text += digits[bits >> held & 63U];
    }
    bits &= (1U << held) - 1;
  };
  for (TokenId token : tokens) {
    for (; token >= 128; token >>= 7) put((token & 127U) | 128U);
    put(token);
  }
  if (held > 0) text += digits[bits << (6 - held) & 63U];
  return text;
}

std::vector<TokenId> unpacked_tokens(std::string_view text, const std::string& where) {
  const auto refuse = [&] {
    throw BadInput(where, "holds tokens that are not as tempera writes them",
                   "the file was changed by another program; draw the answers again");
  };
  std::vector<TokenId> tokens;
  std::uint32_t bits = 0;
  unsigned held = 0;
  std::uint64_t token = 0;
  unsigned shift = 0;
  for (const char letter : text) {
    const std::size_t digit = digits.find(letter);
    if (digit == std::string_view::npos) refuse();
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    const std::uint64_t byte = bits >> held & 255U;
    bits &= (1U << held) - 1;
    token |= (byte & 127U) << shift;
    shift += 7;
    if (token > UINT32_MAX || shift > 35) refuse();
    if (byte >= 128) continue;
    tokens.push_back(static_cast<TokenId>(token));
    token = 0;
    shift = 0;
  }
  // One text for one list: what is left over is padding of zeros.
  if (shift != 0 || packed_tokens(tokens) != text) refuse();
  return tokens;
}

}  // namespace tempera::gpu
