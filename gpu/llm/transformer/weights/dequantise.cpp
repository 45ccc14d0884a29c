#include "gpu/llm/transformer/weights/dequantise.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

#include "gpu/llm/transformer/weights/weight_value.hpp"

namespace tempera::gpu {

namespace {

std::uint16_t read16(const std::byte* bytes) {
  std::uint16_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float read_float16(const std::byte* bytes) { return float16_value(read16(bytes)); }

// Each reads one block and writes its values. A float16 has 11 significant bits, so that its
// products with the whole numbers below are exact in float32: the one rounding is that of a sum.

void f32_values(const std::byte* block, float* values) {
  std::memcpy(values, block, sizeof *values);
}

void f16_values(const std::byte* block, float* values) { *values = read_float16(block); }

void bf16_values(const std::byte* block, float* values) { *values = weight_value(read16(block)); }

/// 0: float16 d; 2: 32 signed bytes q. Value i: d·q_i.
void q8_0_values(const std::byte* block, float* values) {
  const float d = read_float16(block);
  for (std::size_t i = 0; i < 32; ++i)
    values[i] = d * static_cast<float>(static_cast<std::int8_t>(block[2 + i]));
}

/// 0: float16 d; 2: 16 bytes, byte i holding q_i in its low half and q_{16+i} in its high half.
/// Value i: d·(q_i − 8).
void q4_0_values(const std::byte* block, float* values) {
  const float d = read_float16(block);
  for (std::size_t i = 0; i < 16; ++i) {
    values[i] = d * static_cast<float>(low_four(block[2 + i]) - 8);
    values[16 + i] = d * static_cast<float>(high_four(block[2 + i]) - 8);
  }
}

/// 0: float16 d; 2: float16 m; 4: 16 bytes of q as in Q4_0. Value i: d·q_i + m.
void q4_1_values(const std::byte* block, float* values) {
  const float d = read_float16(block);
  const float m = read_float16(block + 2);
  for (std::size_t i = 0; i < 16; ++i) {
    values[i] = d * static_cast<float>(low_four(block[4 + i])) + m;
    values[16 + i] = d * static_cast<float>(high_four(block[4 + i])) + m;
  }
}

/// 0: float16 d; 2: float16 e; 4: 12 bytes of the scales and minima of 8 runs of 32 (above); 16:
/// 128 bytes, of which bytes 32k..32k+31 hold q of run 2k in their low and of run 2k+1 in their
/// high halves. Value i of run j: d·scale_j·q_i − e·minimum_j.
void q4_k_values(const std::byte* block, float* values) {
  const float d = read_float16(block);
  const float e = read_float16(block + 2);
  for (std::size_t run = 0; run < 8; ++run) {
    const auto [scale, minimum] = q4_k_scale(block + 4, run);
    const float step = d * static_cast<float>(scale);
    const float offset = e * static_cast<float>(minimum);
    const std::byte* q = block + 16 + 32 * (run / 2);
    for (std::size_t i = 0; i < 32; ++i) {
      const int quant = run % 2 == 0 ? low_four(q[i]) : high_four(q[i]);
      values[32 * run + i] = step * static_cast<float>(quant) - offset;
    }
  }
}

/// 0: 128 bytes l; 128: 64 bytes h; 192: 16 signed bytes of scales; 208: float16 d. Of each half of
/// 128 values (64 bytes of l, 32 of h, 8 scales), value 32k + i has the low four bits of q in the
/// low (k < 2) or high half of l_{32(k mod 2) + i} and the high two in bits 2k, 2k+1 of h_i. Value
/// i: d·scale_{i div 16}·(q_i − 32).
void q6_k_values(const std::byte* block, float* values) {
  const float d = read_float16(block + 208);
  for (std::size_t i = 0; i < 256; ++i) {
    const int quant = static_cast<int>(q6_k_quant(block, i));
    const auto scale = static_cast<std::int8_t>(block[192 + i / 16]);
    values[i] = d * static_cast<float>(scale) * static_cast<float>(quant - 32);
  }
}

/// The values of blocks one after another: a loop of its own for each dtype, because one that calls
/// through a pointer for every float takes longer than reading it from a disk.
template <StoredBlock Block, auto Values>
void values_of_blocks(std::span<const std::byte> blocks, float* values) {
  const std::size_t count = blocks.size() / Block.bytes;
  for (std::size_t i = 0; i < count; ++i)
    Values(&blocks[i * Block.bytes], &values[i * Block.elements]);
}

struct Format {
  std::string_view dtype;
  StoredBlock block;
  void (*values)(std::span<const std::byte> blocks, float* values);
};

template <StoredBlock Block, auto Values>
constexpr Format format(std::string_view dtype) {
  return {dtype, Block, values_of_blocks<Block, Values>};
}

constexpr std::array<Format, 8> formats{{format<StoredBlock{1, 4}, f32_values>("F32"),
                                         format<StoredBlock{1, 2}, f16_values>("F16"),
                                         format<StoredBlock{1, 2}, bf16_values>("BF16"),
                                         format<StoredBlock{32, 34}, q8_0_values>("Q8_0"),
                                         format<StoredBlock{32, 18}, q4_0_values>("Q4_0"),
                                         format<StoredBlock{32, 20}, q4_1_values>("Q4_1"),
                                         format<StoredBlock{256, 144}, q4_k_values>("Q4_K"),
                                         format<StoredBlock{256, 210}, q6_k_values>("Q6_K")}};

const Format* format_of(std::string_view dtype) {
  const auto* found = std::find_if(formats.begin(), formats.end(),
                                   [&](const Format& format) { return format.dtype == dtype; });
  return found == formats.end() ? nullptr : found;
}

}  // namespace

std::optional<StoredBlock> stored_block(std::string_view dtype) {
  const auto* format = format_of(dtype);
  return format == nullptr ? std::nullopt : std::optional(format->block);
}

ScaleAndMinimum q4_k_scale(const std::byte* s, std::size_t j) {
  const auto low_six = [](std::byte byte) { return std::to_integer<int>(byte & std::byte{0x3F}); };
  const auto high_two = [](std::byte byte) { return std::to_integer<int>(byte >> 6) << 4; };
  if (j < 4) return {low_six(s[j]), low_six(s[4 + j])};
  return {low_four(s[4 + j]) | high_two(s[j - 4]), high_four(s[4 + j]) | high_two(s[j])};
}

std::uint32_t q6_k_quant(const std::byte* block, std::size_t i) {
  const std::size_t half = i / 128;
  const std::size_t k = i % 128 / 32;
  const std::byte l = block[64 * half + 32 * (k % 2) + i % 32];
  const std::byte h = block[128 + 32 * half + i % 32];
  const int quant = (k < 2 ? low_four(l) : high_four(l)) |
                    std::to_integer<int>(h >> static_cast<int>(2 * k) & std::byte{3}) << 4;
  return static_cast<std::uint32_t>(quant);
}

float float16_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  float magnitude = 0.0F;
  if (exponent == 0x1F) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

void dequantise(std::string_view dtype, std::span<const std::byte> blocks,
                std::span<float> values) {
  const auto* format = format_of(dtype);
  assert(format != nullptr && blocks.size() % format->block.bytes == 0 &&
         blocks.size() / format->block.bytes * format->block.elements == values.size());
  format->values(blocks, values.data());
}

}  // namespace tempera::gpu
