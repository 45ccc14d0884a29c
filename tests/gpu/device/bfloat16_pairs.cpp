// The sums of pairs: the definition against exact arithmetic, and instructions against the
// definition.
#include "gpu/device/bfloat16_pairs.hpp"

#include <cmath>
#include <cstring>
#include <iostream>
#include <random>

#include "gpu/device/instruction_set.hpp"
#include "gpu/device/pair_probe.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

namespace {

std::uint32_t bits_of_float(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

float float_of_bits(std::uint32_t bits) {
  float x = 0.0F;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

__extension__ typedef __int128 Whole;

/// What flushed_multiply_add says, by whole numbers: a·b + c exactly, rounded to 24 bits to
/// nearest, ties to even, with no least exponent; below 2^-126 the zero of its sign. For finite a,
/// b, c whose exact sum has no more than 120 bits.
float by_whole_numbers(float a, float b, float c) {
  const auto split = [](float x, Whole& whole, int& power) {
    if (std::abs(x) < 0x1p-126F) {
      whole = 0;
      power = 0;
      return;
    }
    int exponent = 0;
    const float fraction = std::frexp(x, &exponent);
    whole = static_cast<Whole>(std::ldexp(fraction, 24));
    power = exponent - 24;
  };
  Whole whole_a = 0;
  Whole whole_b = 0;
  Whole whole_c = 0;
  int power_a = 0;
  int power_b = 0;
  int power_c = 0;
  split(a, whole_a, power_a);
  split(b, whole_b, power_b);
  split(c, whole_c, power_c);
  Whole product = whole_a * whole_b;
  int power = power_a + power_b;
  const bool negative_zero_product = std::signbit(a) != std::signbit(b);
  if (product == 0) power = power_c;
  if (whole_c == 0) power_c = power;
  const int least = std::min(power, power_c);
  product *= static_cast<Whole>(1) << (power - least);
  whole_c *= static_cast<Whole>(1) << (power_c - least);
  Whole sum = product + whole_c;
  if (sum == 0) {
    const bool both = product == 0 && negative_zero_product && std::signbit(c);
    return both ? -0.0F : 0.0F;
  }
  const bool negative = sum < 0;
  if (negative) sum = -sum;
  int bits = 0;
  while (bits < 127 && sum >> bits != 0) ++bits;
  int scaled = least;
  if (bits > 24) {
    const int cut = bits - 24;
    const Whole below = sum & ((static_cast<Whole>(1) << cut) - 1);
    const Whole half = static_cast<Whole>(1) << (cut - 1);
    sum >>= cut;
    if (below > half || (below == half && sum % 2 != 0)) ++sum;
    scaled += cut;
  }
  const double magnitude = std::ldexp(static_cast<double>(sum), scaled);
  if (magnitude < 0x1p-126) return negative ? -0.0F : 0.0F;
  return static_cast<float>(negative ? -magnitude : magnitude);
}

/// Sums of pairs with the two products in the other order.
void exchanged(const std::uint32_t* a, const std::uint32_t* b, const float* sums, std::size_t count,
               float* results) {
  const auto other = [](std::uint32_t pair) { return pair >> 16 | pair << 16; };
  for (std::size_t i = 0; i < count; ++i) results[i] = add_pair(other(a[i]), other(b[i]), sums[i]);
}

template <class Step>
void by_steps(const std::uint32_t* a, const std::uint32_t* b, const float* sums, std::size_t count,
              float* results, const Step& step) {
  for (std::size_t i = 0; i < count; ++i) {
    results[i] =
        step(float_of_bits(a[i] << 16), float_of_bits(b[i] << 16),
             step(float_of_bits(a[i] & 0xFFFF0000U), float_of_bits(b[i] & 0xFFFF0000U), sums[i]));
  }
}

void with_subnormals(const std::uint32_t* a, const std::uint32_t* b, const float* sums,
                     std::size_t count, float* results) {
  by_steps(a, b, sums, count, results,
           [](float x, float y, float sum) { return std::fma(x, y, sum); });
}

void flushed_after_rounding_to_subnormals(const std::uint32_t* a, const std::uint32_t* b,
                                          const float* sums, std::size_t count, float* results) {
  by_steps(a, b, sums, count, results, [](float x, float y, float sum) {
    return flushed(std::fma(flushed(x), flushed(y), flushed(sum)));
  });
}

void rounded_twice(const std::uint32_t* a, const std::uint32_t* b, const float* sums,
                   std::size_t count, float* results) {
  by_steps(a, b, sums, count, results, [](float x, float y, float sum) {
    return flushed_sum(flushed(flushed(x) * flushed(y)), sum);
  });
}

void rounded_once_for_both(const std::uint32_t* a, const std::uint32_t* b, const float* sums,
                           std::size_t count, float* results) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto product = [&](std::uint32_t x, std::uint32_t y) {
      return static_cast<double>(flushed(float_of_bits(x))) *
             static_cast<double>(flushed(float_of_bits(y)));
    };
    results[i] = flushed(static_cast<float>(product(a[i] << 16, b[i] << 16) +
                                            product(a[i] & 0xFFFF0000U, b[i] & 0xFFFF0000U) +
                                            static_cast<double>(flushed(sums[i]))));
  }
}

/// Segments that an instruction might add in another way.
enum class Wrong { one_chain, into_the_sum, from_the_end, with_subnormals, turned };

template <Wrong Way>
void add_wrongly(const std::uint32_t* a, const std::uint32_t* b, float* sums) {
  for (std::size_t i = 0; i < 256; ++i) {
    float chains[2] = {Way == Wrong::into_the_sum ? sums[i] : 0.0F, 0.0F};
    for (std::size_t step = 0; step < 16; ++step) {
      const std::size_t word = Way == Wrong::from_the_end ? 15 - step : step;
      const std::uint32_t row = a[i / 16 * 16 + word];
      const std::uint32_t column =
          b[Way == Wrong::turned ? i % 16 * 16 + word : word * 16 + i % 16];
      const auto add = [&](float x, float y, float& chain) {
        chain = Way == Wrong::with_subnormals ? std::fma(x, y, chain)
                                              : flushed_multiply_add(x, y, chain);
      };
      add(float_of_bits(row << 16), float_of_bits(column << 16), chains[0]);
      add(float_of_bits(row & 0xFFFF0000U), float_of_bits(column & 0xFFFF0000U),
          chains[Way == Wrong::one_chain ? 0 : 1]);
    }
    const float segment = flushed_sum(chains[0], chains[1]);
    sums[i] = Way == Wrong::into_the_sum ? segment : flushed_sum(sums[i], segment);
  }
}

constexpr AddSegments wrong_segments[] = {
    add_wrongly<Wrong::one_chain>, add_wrongly<Wrong::into_the_sum>,
    add_wrongly<Wrong::from_the_end>, add_wrongly<Wrong::with_subnormals>,
    add_wrongly<Wrong::turned>};

}  // namespace

TEST_CASE("a flushed multiply-add is the exact sum, rounded once", "[bfloat16-pairs]") {
  std::mt19937 engine(11);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  const auto number = [&](std::uint32_t first, std::uint32_t count) {
    return float_of_bits((random() & 0x807FFFFFU) | (first + random() % count) << 23);
  };
  std::size_t zeros = 0;
  std::size_t least = 0;
  for (int i = 0; i < 400'000; ++i) {
    // Near one, and near the least normal number; now and then subnormal numbers.
    const bool small = i % 2 == 0;
    const auto factor = [&](std::uint32_t first) {
      return float_of_bits(bits_of_float(number(first, 12)) & 0xFFFF0000U);
    };
    float a = factor(small ? 60 : 122);
    const float b = factor(small ? 52 : 122);
    float c = small ? number(0, 6) : number(118, 16);
    if (i % 8 == 0) {
      // About half a unit of the least normal number's last place.
      a = std::ldexp(a, -20);
      c = float_of_bits(0x00800000U | (random() & 0x80000000U));
    }
    const float expected = by_whole_numbers(a, b, c);
    zeros += expected == 0.0F ? 1 : 0;
    least += std::abs(expected) == 0x1p-126F ? 1 : 0;
    const float given = flushed_multiply_add(a, b, c);
    if (bits_of_float(given) != bits_of_float(expected)) {
      CAPTURE(a, b, c);
      REQUIRE(bits_of_float(given) == bits_of_float(expected));
    }
  }
  CHECK(zeros > 1000);
  CHECK(least > 100);
}

TEST_CASE("a sum just below 2^-126 is zero, though a subnormal's rounding would reach it",
          "[bfloat16-pairs]") {
  const float least = 0x1p-126F;
  CHECK(flushed_multiply_add(0x1p-100F, -0x1p-51F, least) == least);  // a tie, to even
  CHECK(bits_of_float(flushed_multiply_add(0x1p-100F, -0x1.2p-51F, least)) == 0);
  CHECK(bits_of_float(flushed_multiply_add(-0x1p-100F, -0x1.2p-51F, -least)) == 0x80000000U);
  CHECK(std::fma(0x1p-100F, -0x1.2p-51F, least) == least);
}

TEST_CASE("the instructions of every form sum pairs as defined", "[bfloat16-pairs][device]") {
  for (const auto set : instruction_sets) {
    if (const auto why = why_missing(set); !why.empty()) {
      std::cout << "SKIPPED: sums of pairs for " << name_of(set) << ": " << why << '\n';
      continue;
    }
    const PairProbe probe = probe_pairs(add_pairs_of(set), 1000);
    INFO(name_of(set));
    CHECK(probe.sums == 1'024'000);
    CHECK_FALSE(probe.first.has_value());
  }
}

TEST_CASE("the instruction for tiles adds segments as defined", "[bfloat16-pairs][device]") {
  if (const auto why = why_missing(InstructionSet::amx_bf16); !why.empty()) {
    std::cout << "SKIPPED: segments by tiles: " << why << '\n';
    return;
  }
  const SegmentProbe probe = probe_segments(add_segments_by_tiles(), 4000);
  CHECK(probe.sums == 1'024'000);
  CHECK(probe.different == 0);
}

TEST_CASE("the probe of tiles knows right segments, and sees every wrong instruction",
          "[bfloat16-pairs][device]") {
  // The definition, written otherwise: pairs by add_pair, one chain after the other.
  const auto right = [](const std::uint32_t* a, const std::uint32_t* b, float* sums) {
    for (std::size_t i = 0; i < 256; ++i) {
      float chains[2] = {0, 0};
      for (std::size_t word = 0; word < 16; word += 2) {
        const std::uint32_t row[2] = {a[i / 16 * 16 + word], a[i / 16 * 16 + word + 1]};
        const std::uint32_t column[2] = {b[word * 16 + i % 16], b[(word + 1) * 16 + i % 16]};
        const auto pair = [](const std::uint32_t(&words)[2], int chain) {
          return chain == 0 ? (words[0] << 16) | (words[1] & 0xFFFFU)
                            : (words[0] & 0xFFFF0000U) | words[1] >> 16;
        };
        for (int chain = 0; chain < 2; ++chain) {
          chains[chain] = add_pair(pair(row, chain), pair(column, chain), chains[chain]);
        }
      }
      sums[i] = flushed_sum(sums[i], flushed_sum(chains[0], chains[1]));
    }
  };
  CHECK(probe_segments(right, 60).sums == 15'360);
  CHECK(probe_segments(right, 60).different == 0);
  for (const auto wrong : wrong_segments) {
    CHECK(probe_segments(wrong, tiles_at_start).different > 0);
  }
}

TEST_CASE("the probe at start sees every wrong instruction", "[bfloat16-pairs][device]") {
  for (const AddPairs wrong : {&exchanged, &with_subnormals, &flushed_after_rounding_to_subnormals,
                               &rounded_twice, &rounded_once_for_both}) {
    CHECK(probe_pairs(wrong, blocks_at_start).first.has_value());
  }
}

}  // namespace tempera::gpu
