#include "gpu/device/pair_probe.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/device/bfloat16_pairs.hpp"

namespace tempera::gpu {

namespace {

constexpr std::size_t block_sums = 1024;
constexpr std::size_t kinds = 6;

/// Numbers that look drawn, the same in every process.
class Drawn {
 public:
  std::uint32_t bits() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  std::uint32_t below(std::uint32_t end) {
    return static_cast<std::uint32_t>((std::uint64_t{bits()} * end) >> 32);
  }
  /// The bits of a float32 whose biased exponent is in first … first + count - 1.
  std::uint32_t float_bits(std::uint32_t first, std::uint32_t count) {
    return (bits() & 0x807FFFFFU) | (first + below(count)) << 23;
  }

 private:
  std::uint64_t state_ = 25;
};

float from_float_bits(std::uint32_t bits) {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::uint32_t pair_of(std::uint32_t first, std::uint32_t second) {
  return first >> 16 | (second & 0xFFFF0000U);
}

struct Sum {
  std::uint32_t a;
  std::uint32_t b;
  float sum;
};

Sum sum_of_kind(std::size_t kind, Drawn& drawn) {
  // Both factors and the sum from these exponents.
  const auto within = [&](std::uint32_t first, std::uint32_t count, std::uint32_t first_of_sum,
                          std::uint32_t count_of_sum) -> Sum {
    const auto factor = [&] { return drawn.float_bits(first, count); };
    const std::uint32_t a = pair_of(factor(), factor());
    const std::uint32_t b = pair_of(factor(), factor());
    return {a, b, from_float_bits(drawn.float_bits(first_of_sum, count_of_sum))};
  };
  switch (kind) {
    case 0:
      return {drawn.bits(), drawn.bits(), from_float_bits(drawn.bits())};
    case 1:
      return within(115, 20, 110, 30);
    case 2:
      return within(58, 8, 0, 8);
    case 3:
      return within(186, 8, 240, 15);
    case 4: {
      // The sum is minus a product, up to a few of its last bits.
      Sum sum = within(64, 100, 127, 1);
      const auto product = static_cast<double>(from_float_bits(sum.a << 16)) *
                           static_cast<double>(from_float_bits(sum.b << 16));
      const auto near = static_cast<float>(-product);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &near, sizeof bits);
      sum.sum = from_float_bits(bits ^ drawn.below(4));
      return sum;
    }
    default: {
      // The least normal number, less a product of about half a unit of its last place.
      const std::uint32_t a = drawn.float_bits(20, 30) & 0x7FFFFFFFU;
      const std::uint32_t exponent = 254 - 152 + drawn.below(4);  // biased twice: of about 2^-151
      const std::uint32_t b = (drawn.bits() & 0x007FFFFFU) | (exponent - (a >> 23)) << 23;
      const bool negative = drawn.below(2) != 0;
      const std::uint32_t sign = negative ? 0x80000000U : 0;
      const std::uint32_t pair = drawn.below(2) != 0 ? pair_of(a, 0) : pair_of(0, a);
      return {pair, pair_of(b ^ sign ^ 0x80000000U, b ^ sign ^ 0x80000000U),
              from_float_bits(0x00800000U | sign)};
    }
  }
}

/// What an instruction for segments takes.
struct SegmentTile {
  std::array<std::uint32_t, 256> a{};  // [row, word]
  std::array<std::uint32_t, 256> b{};  // [word, column]
  std::array<float, 256> sums{};
};

/// Segments of a kind of sum: every word any such pair, or, of the last two kinds, one or two words
/// of each row and column, whose sums are near a limit.
void fill_tile(std::size_t kind, Drawn& drawn, SegmentTile& tile) {
  for (std::size_t i = 0; i < 256; ++i) {
    const Sum sum = sum_of_kind(kind, drawn);
    tile.a[i] = sum.a;
    tile.b[i] = sum.b;
    tile.sums[i] = sum.sum;
  }
  if (kind < 4) return;
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t word = 0; word < 16; ++word) {
      const bool near_least = kind == 5 && word < 2;
      std::uint32_t& a = tile.a[row * 16 + word];
      std::uint32_t& b = tile.b[word * 16 + row];
      if (near_least) {
        // Word 0 makes the least normal number, and word 1 half a unit of its last place.
        const std::uint32_t exponent = word == 0 ? 127 - 60 : 127 - 75;
        const std::uint32_t other = word == 0 ? 127 - 66 : 127 - 76 - drawn.below(2);
        a = pair_of(word == 0 ? exponent << 23 : drawn.float_bits(exponent, 1), 0);
        b = pair_of(word == 0 ? other << 23 : drawn.float_bits(other, 1), 0);
      } else if (word > 0) {
        a = b = 0;
      } else {
        a &= 0xFFFFU;
        b &= 0xFFFFU;
      }
    }
  }
  if (kind != 4) return;
  for (std::size_t i = 0; i < 256; ++i) {
    // Minus the product of word 0, up to a few of its last bits.
    const auto product = static_cast<double>(from_float_bits(tile.a[i / 16 * 16] << 16)) *
                         static_cast<double>(from_float_bits(tile.b[i % 16] << 16));
    const auto near = static_cast<float>(-product);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &near, sizeof bits);
    tile.sums[i] = from_float_bits(bits ^ drawn.below(4));
  }
}

/// What the definition makes of a row and a column.
float defined_segment(const SegmentTile& tile, std::size_t row, std::size_t column) {
  float lower = 0;
  float upper = 0;
  for (std::size_t word = 0; word < 16; ++word) {
    const std::uint32_t a = tile.a[row * 16 + word];
    const std::uint32_t b = tile.b[word * 16 + column];
    lower = flushed_multiply_add(from_float_bits(a << 16), from_float_bits(b << 16), lower);
    upper = flushed_multiply_add(from_float_bits(a & 0xFFFF0000U), from_float_bits(b & 0xFFFF0000U),
                                 upper);
  }
  return flushed_sum(tile.sums[row * 16 + column], flushed_sum(lower, upper));
}

bool are_the_same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace

PairProbe probe_pairs(AddPairs instructions, std::size_t blocks) {
  PairProbe result;
  Drawn drawn;
  std::array<std::uint32_t, block_sums> a{};
  std::array<std::uint32_t, block_sums> b{};
  std::array<float, block_sums> sums{};
  std::array<float, block_sums> given{};
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t i = 0; i < block_sums; ++i) {
      const Sum sum = sum_of_kind(i % kinds, drawn);
      a[i] = sum.a;
      b[i] = sum.b;
      sums[i] = sum.sum;
    }
    instructions(a.data(), b.data(), sums.data(), block_sums, given.data());
    for (std::size_t i = 0; i < block_sums; ++i) {
      const float defined = add_pair(a[i], b[i], sums[i]);
      if (!result.first && !are_the_same(given[i], defined)) {
        result.first = PairDifference{a[i], b[i], sums[i], given[i], defined};
      }
    }
    result.sums += block_sums;
  }
  return result;
}

SegmentProbe probe_segments(AddSegments instruction, std::size_t tiles) {
  SegmentProbe result;
  Drawn drawn;
  SegmentTile tile;
  for (std::size_t i = 0; i < tiles; ++i) {
    fill_tile(i % kinds, drawn, tile);
    auto given = tile.sums;
    instruction(tile.a.data(), tile.b.data(), given.data());
    for (std::size_t sum = 0; sum < given.size(); ++sum) {
      if (!are_the_same(given[sum], defined_segment(tile, sum / 16, sum % 16))) ++result.different;
    }
    result.sums += given.size();
  }
  return result;
}

}  // namespace tempera::gpu
