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

/// Quant i < 32 of four bits, as Q4_0 has them in 16 bytes.
int q4_0_quant(const std::byte* bytes, std::size_t i) {
  return i < 16 ? low_four(bytes[i]) : high_four(bytes[i - 16]);
}
/// 16 if bit i of 32 is set.
int fifth_bit(const std::byte* bits, std::size_t i) {
  return std::to_integer<int>(bits[i / 8] >> static_cast<int>(i % 8) & std::byte{1}) << 4;
}
/// The two bits of value i < 256, as Q2_K has them in 64 bytes.
int two_bits(const std::byte* bytes, std::size_t i) {
  const auto bits = bytes[32 * (i / 128) + i % 32] >> static_cast<int>(i % 128 / 32 * 2);
  return std::to_integer<int>(bits & std::byte{3});
}

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

/// 0: float16 d; 2: four bytes, whose bit i is the fifth of q_i; 6: the others as in Q4_0. Value
/// i: d·(q_i − 16).
void q5_0_values(const std::byte* block, float* values) {
  const float d = read_float16(block);
  for (std::size_t i = 0; i < 32; ++i) {
    values[i] = d * static_cast<float>(fifth_bit(block + 2, i) + q4_0_quant(block + 6, i) - 16);
  }
}

/// 0: float16 d; 2: float16 m; 4: 20 bytes of q as in Q5_0. Value i: d·q_i + m.
void q5_1_values(const std::byte* block, float* values) {
  const float d = read_float16(block);
  const float m = read_float16(block + 2);
  for (std::size_t i = 0; i < 32; ++i) {
    values[i] = d * static_cast<float>(fifth_bit(block + 4, i) + q4_0_quant(block + 8, i)) + m;
  }
}

/// 0: float16 d; 2: 16 bytes as in Q4_0. Value i: d·iq4_value(q_i).
void iq4_nl_values(const std::byte* block, float* values) {
  const float d = read_float16(block);
  for (std::size_t i = 0; i < 32; ++i)
    values[i] = d * static_cast<float>(iq4_value(q4_0_quant(block + 2, i)));
}

/// 0: byte e; 1: 16 bytes as in Q4_0, of a sign and the two bits of an exponent and one of a
/// fraction, with bias 1. Value i: 2^(e − 127)·q_i, here in halves.
void mxfp4_values(const std::byte* block, float* values) {
  constexpr std::array<std::int8_t, 8> halves{0, 1, 2, 3, 4, 6, 8, 12};
  const float d = std::ldexp(1.0F, std::to_integer<int>(block[0]) - 128);
  for (std::size_t i = 0; i < 32; ++i) {
    const int quant = q4_0_quant(block + 1, i);
    const int half = halves[static_cast<std::size_t>(quant % 8)];
    values[i] = d * static_cast<float>(quant < 8 ? half : -half);
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

/// 0: float16 d; 2: float16 e; 4: 12 bytes as in Q4_K; 16: 32 bytes, whose byte i has the fifth bit
/// of value i of run j in bit j; 48: the others as in Q4_K, and the values too.
void q5_k_values(const std::byte* block, float* values) {
  const float d = read_float16(block);
  const float e = read_float16(block + 2);
  for (std::size_t run = 0; run < 8; ++run) {
    const auto [scale, minimum] = q4_k_scale(block + 4, run);
    const float step = d * static_cast<float>(scale);
    const float offset = e * static_cast<float>(minimum);
    for (std::size_t i = 32 * run; i < 32 * run + 32; ++i)
      values[i] = step * static_cast<float>(q5_k_quant(block, i)) - offset;
  }
}

/// 0: 16 bytes, the scale of run j of 16 in the low and its minimum in the high half of byte j; 16:
/// 64 bytes q; 80: float16 d; 82: float16 e. Each half of 128 values has 32 bytes of q, and q of
/// its value 32k + i is in bits 2k, 2k+1 of byte i. Value i of run j: d·scale_j·q_i − e·minimum_j.
void q2_k_values(const std::byte* block, float* values) {
  const float d = read_float16(block + 80);
  const float e = read_float16(block + 82);
  for (std::size_t i = 0; i < 256; ++i) {
    const float step = d * static_cast<float>(low_four(block[i / 16]));
    const float offset = e * static_cast<float>(high_four(block[i / 16]));
    values[i] = step * static_cast<float>(q2_k_quant(block, i)) - offset;
  }
}

/// 0: 32 bytes h; 32: 64 bytes of two bits as in Q2_K; 96: 12 bytes of 16 scales; 108: float16 d.
/// q_i is its two bits, less 4 unless bit i div 32 of h_{i mod 32} is set. Scale j: four low bits
/// in the low (j < 8) or high half of byte j mod 8, two above them in bits 2 (j div 4) … of byte 8
/// + j mod 4, less 32. Value i: d·scale_{i div 16}·q_i.
void q3_k_values(const std::byte* block, float* values) {
  const float d = read_float16(block + 108);
  for (std::size_t i = 0; i < 256; ++i) {
    values[i] = d * static_cast<float>(q3_k_scale(block, i / 16)) *
                static_cast<float>(q3_k_quant(block, i));
  }
}

/// 0: float16 d; 2: two bytes h; 4: four bytes l; 8: 16 bytes of each run of 32, as in IQ4_NL.
/// Scale j: four low bits in the low (j even) or high half of l_{j div 2}, two above them in bits
/// 2j, 2j+1 of h, less 32. Value i of run j: d·scale_j·iq4_value(q_i).
void iq4_xs_values(const std::byte* block, float* values) {
  const float d = read_float16(block);
  for (std::size_t i = 0; i < 256; ++i) {
    values[i] = d * static_cast<float>(iq4_xs_scale(block, i / 32)) *
                static_cast<float>(iq4_value(q4_0_quant(block + 8 + i / 32 * 16, i % 32)));
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

constexpr std::array<Format, 16> formats{{format<StoredBlock{1, 4}, f32_values>("F32"),
                                          format<StoredBlock{1, 2}, f16_values>("F16"),
                                          format<StoredBlock{1, 2}, bf16_values>("BF16"),
                                          format<StoredBlock{32, 34}, q8_0_values>("Q8_0"),
                                          format<StoredBlock{32, 18}, q4_0_values>("Q4_0"),
                                          format<StoredBlock{32, 20}, q4_1_values>("Q4_1"),
                                          format<StoredBlock{256, 144}, q4_k_values>("Q4_K"),
                                          format<StoredBlock{256, 210}, q6_k_values>("Q6_K"),
                                          format<StoredBlock{32, 22}, q5_0_values>("Q5_0"),
                                          format<StoredBlock{32, 24}, q5_1_values>("Q5_1"),
                                          format<StoredBlock{256, 176}, q5_k_values>("Q5_K"),
                                          format<StoredBlock{256, 84}, q2_k_values>("Q2_K"),
                                          format<StoredBlock{256, 110}, q3_k_values>("Q3_K"),
                                          format<StoredBlock{32, 18}, iq4_nl_values>("IQ4_NL"),
                                          format<StoredBlock{256, 136}, iq4_xs_values>("IQ4_XS"),
                                          format<StoredBlock{32, 17}, mxfp4_values>("MXFP4")}};

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

std::uint32_t q5_k_quant(const std::byte* block, std::size_t i) {
  const std::size_t run = i / 32;
  const std::byte q = block[48 + 32 * (run / 2) + i % 32];
  const int quant = (run % 2 == 0 ? low_four(q) : high_four(q)) |
                    std::to_integer<int>(block[16 + i % 32] >> static_cast<int>(run) & std::byte{1})
                        << 4;
  return static_cast<std::uint32_t>(quant);
}

std::uint32_t q2_k_quant(const std::byte* block, std::size_t i) {
  return static_cast<std::uint32_t>(two_bits(block + 16, i));
}

int q3_k_quant(const std::byte* block, std::size_t i) {
  const auto is_high = block[i % 32] >> static_cast<int>(i / 32) & std::byte{1};
  return two_bits(block + 32, i) - (is_high == std::byte{1} ? 0 : 4);
}

int q3_k_scale(const std::byte* block, std::size_t j) {
  const std::byte* const s = block + 96;
  const int low = j < 8 ? low_four(s[j]) : high_four(s[j - 8]);
  const auto high = s[8 + j % 4] >> static_cast<int>(2 * (j / 4)) & std::byte{3};
  return (low | std::to_integer<int>(high) << 4) - 32;
}

int iq4_xs_scale(const std::byte* block, std::size_t j) {
  const std::byte l = block[4 + j / 2];
  const int high = read16(block + 2) >> (2 * j) & 3;
  return ((j % 2 == 0 ? low_four(l) : high_four(l)) | high << 4) - 32;
}

int iq4_value(int quant) {
  constexpr std::array<std::int8_t, 16> values{-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
  return values[static_cast<std::size_t>(quant)];
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
