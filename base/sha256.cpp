#include "base/sha256.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace tempera {

namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t block_rounds = 64;

/// The first 32 bits of the fractional part of the n-th root (square or cube) of a prime, by
/// bisection in whole numbers: the greatest r with r^n <= prime·2^(32n).
constexpr std::uint32_t root_fraction(std::uint32_t prime, int n) {
  std::uint64_t least = 0;
  std::uint64_t beyond = std::uint64_t{1} << 37;  // the square root of 311 is below 2^5
  __extension__ using Wide = unsigned __int128;
  const auto target = static_cast<Wide>(prime) << (32 * n);
  while (beyond - least > 1) {
    const std::uint64_t middle = (least + beyond) / 2;
    Wide power = middle;
    for (int i = 1; i < n; ++i) power *= middle;
    (power <= target ? least : beyond) = middle;
  }
  return static_cast<std::uint32_t>(least);
}

struct Constants {
  std::array<std::uint32_t, block_rounds> round{};
  std::array<std::uint32_t, 8> start{};
};

constexpr Constants make_constants() {
  Constants constants;
  std::size_t found = 0;
  for (std::uint32_t candidate = 2; found < block_rounds; ++candidate) {
    bool is_prime = true;
    for (std::uint32_t factor = 2; factor * factor <= candidate; ++factor)
      is_prime = is_prime && candidate % factor != 0;
    if (!is_prime) continue;
    constants.round[found] = root_fraction(candidate, 3);
    if (found < constants.start.size()) constants.start[found] = root_fraction(candidate, 2);
    ++found;
  }
  return constants;
}

constexpr Constants constants = make_constants();
static_assert(constants.start[0] == 0x6A09E667 && constants.round[63] == 0xC67178F2);

using State = std::array<std::uint32_t, 8>;

void add_block(State& state, const std::byte* block) {
  std::array<std::uint32_t, block_rounds> words{};
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < 4; ++j)
      words[i] = words[i] << 8 | std::to_integer<std::uint32_t>(block[4 * i + j]);
  }
  for (std::size_t i = 16; i < block_rounds; ++i) {
    const auto a = words[i - 15];
    const auto b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < block_rounds; ++i) {
    const auto first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                       ((e & f) ^ (~e & g)) + constants.round[i] + words[i];
    const auto second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const State sum{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += sum[i];
}

}  // namespace

std::string sha256(std::span<const std::byte> bytes) {
  State state = constants.start;
  std::size_t done = 0;
  for (; bytes.size() - done >= block_bytes; done += block_bytes) add_block(state, &bytes[done]);
  // The rest, a one bit, zeros, and the length in bits, in one block or two.
  std::array<std::byte, 2 * block_bytes> last{};
  const auto rest = bytes.size() - done;
  if (rest > 0) std::memcpy(last.data(), bytes.data() + done, rest);
  last[rest] = std::byte{0x80};
  const auto end = rest + 9 <= block_bytes ? block_bytes : 2 * block_bytes;
  const auto bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (std::size_t i = 0; i < 8; ++i)
    last[end - 1 - i] = static_cast<std::byte>(bits >> (8 * i) & 0xFF);
  for (std::size_t i = 0; i < end; i += block_bytes) add_block(state, &last[i]);

  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const auto word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) text += digits[word >> shift & 0xF];
  }
  return text;
}

std::string sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

}  // namespace tempera
