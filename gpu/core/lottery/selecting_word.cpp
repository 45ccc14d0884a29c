#include "gpu/core/lottery/selecting_word.hpp"

namespace tempera::gpu {
namespace {

__extension__ using Wide = unsigned __int128;

Word word_of(Wide value) {
  Word word;
  for (std::uint32_t& limb : word.limb) {
    limb = static_cast<std::uint32_t>(value);
    value >>= 32;
  }
  return word;
}

Wide value_of(const Word& word) {
  Wide value = 0;
  for (int i = 3; i >= 0; --i) value = value << 32 | word.limb[i];
  return value;
}

/// ceil(t · 2^128 / total) modulo 2^128: two digits of a division by hand. Range: t <= total.
Wide first_of(std::uint64_t t, std::uint64_t total) {
  const Wide upper = static_cast<Wide>(t) << 64;
  const Wide lower = upper % total << 64;
  return (upper / total << 64) + lower / total + (lower % total != 0 ? 1 : 0);
}

/// 1/x modulo 2^32 for odd x, by Newton's iteration: each step doubles the bits, from three.
constexpr std::uint32_t inverse_of(std::uint32_t x) {
  std::uint32_t inverse = x;
  for (int step = 0; step < 4; ++step) inverse *= 2 - x * inverse;
  return inverse;
}

}  // namespace

Word least_word(std::uint64_t threshold, std::uint64_t total) {
  return word_of(first_of(threshold, total));
}

Word largest_word(std::uint64_t threshold, std::uint64_t total) {
  return word_of(first_of(threshold + 1, total) - 1);
}

Word word_between(const Word& least, const Word& largest, std::uint64_t seed) {
  const Wide from = value_of(least);
  const Wide width = value_of(largest) - from;
  return word_of(width == 0 ? from : from + value_of(philox({{0, 0, 0, 0}}, seed)) % width);
}

Word counter_giving(const Word& word, std::uint64_t key) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53;
  constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t inverse_0 = inverse_of(multiplier_0);
  constexpr std::uint32_t inverse_1 = inverse_of(multiplier_1);
  constexpr std::uint32_t weyl_0 = 0x9E3779B9;
  constexpr std::uint32_t weyl_1 = 0xBB67AE85;
  Word counter = word;
  for (std::uint32_t round = 10; round-- > 0;) {
    const auto key_0 = static_cast<std::uint32_t>(key) + round * weyl_0;
    const auto key_1 = static_cast<std::uint32_t>(key >> 32) + round * weyl_1;
    const std::uint32_t limb_0 = counter.limb[3] * inverse_0;
    const std::uint32_t limb_2 = counter.limb[1] * inverse_1;
    counter = {{limb_0,
                counter.limb[0] ^ static_cast<std::uint32_t>(multiplier_1 * limb_2 >> 32) ^ key_0,
                limb_2,
                counter.limb[2] ^ static_cast<std::uint32_t>(multiplier_0 * limb_0 >> 32) ^ key_1}};
  }
  return counter;
}

}  // namespace tempera::gpu
