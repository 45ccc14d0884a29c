#include "gpu/device/pair_probe.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "gpu/device/bfloat16_pairs.hpp"

namespace tempera::gpu {

namespace {

constexpr std::size_t block_sums = 1024;

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

bool are_the_same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

PairProbe probe_pairs(AddPairs instructions, std::size_t blocks) {
  constexpr std::size_t kinds = 6;
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

}  // namespace tempera::gpu
