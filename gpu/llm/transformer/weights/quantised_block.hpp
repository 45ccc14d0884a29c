#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gpu/device/arithmetic.hpp"
#include "gpu/llm/transformer/weights/matrix_view.hpp"
#include "gpu/llm/transformer/weights/weight_value.hpp"

// How quantised weights are laid out in a packed matrix. A block is `lanes` outputs of it, all
// stored in one type; it is stored blocks of 32 or 256 inputs in order, and in each the 16 outputs
// are side by side: first what they are scaled by, then words of 32 bits that hold the quants of
// one output for consecutive inputs, the first in the lowest bits. The bits are those of the file
// (the scales and minima of Q4_K, Q5_K and Q2_K take eight bits each), and weight_of_block gives
// what dequantise gives. Under `tensor-core` a weight is that, rounded to bfloat16 when it is used.
// Some types of files are packed as another, wider one that holds the same values: see
// packing_of_dtype.

namespace tempera::gpu {

/// The types that a block can be stored in.
enum class Packing : std::uint8_t {
  float32,
  bfloat16,
  float16,
  q8_0,
  q4_0,
  q4_1,
  q4_k,
  q6_k,
  q5_0,
  q5_1,
  q5_k,
  q2_k,
  q8_scaled,  // value i of a run of 32: d·scale·q_i, all three with a sign, q of eight bits
};

/// What MatrixView::blocks holds: the byte where a block begins, times 16, and its Packing.
constexpr std::uint64_t block_entry(std::uint64_t begin, Packing packing) {
  return begin << 4 | static_cast<std::uint64_t>(packing);
}

/// Where the parts of a stored block are, in bytes; and how much it holds.
struct PackedLayout {
  std::size_t inputs;   // of a stored block
  std::size_t bytes;    // of a stored block of all lanes
  std::size_t offsets;  // second part of the scales: minima, or what the first is multiplied by
  std::size_t quants;
  std::size_t high_quants;  // the bits above the four low ones
};

inline namespace TEMPERA_INSTRUCTION_SET {

TEMPERA_HOST_DEVICE constexpr PackedLayout packed_layout(Packing packing) {
  switch (packing) {
    case Packing::float32:
      return {1, 64, 0, 0, 0};
    case Packing::bfloat16:
    case Packing::float16:
      return {1, 32, 0, 0, 0};
    case Packing::q8_0:
      return {32, 32 + 512, 0, 32, 0};
    case Packing::q4_0:
      return {32, 32 + 256, 0, 32, 0};
    case Packing::q4_1:
      return {32, 64 + 256, 32, 64, 0};
    case Packing::q4_k:
      return {256, 64 + 256 + 2048, 64, 320, 0};
    case Packing::q6_k:
      return {256, 32 + 256 + 2048 + 1024, 32, 288, 2336};
    case Packing::q5_0:
      return {32, 32 + 256 + 64, 0, 32, 288};
    case Packing::q5_1:
      return {32, 64 + 256 + 64, 32, 64, 320};
    case Packing::q5_k:
      return {256, 64 + 256 + 2048 + 512, 64, 320, 2368};
    case Packing::q2_k:
      return {256, 64 + 512 + 1024, 64, 576, 0};
    default:  // q8_scaled
      return {256, 32 + 128 + 4096, 32, 160, 0};
  }
}

TEMPERA_HOST_DEVICE constexpr Packing packing_of(std::uint64_t entry) {
  return static_cast<Packing>(entry & 15);
}
TEMPERA_HOST_DEVICE constexpr std::size_t begin_of(std::uint64_t entry) { return entry >> 4; }

/// The value of a finite float16; exact.
TEMPERA_HOST_DEVICE inline float finite_float16(std::uint16_t bits) {
  // Exponent and fraction moved to where a float32 has them are the value times 2^-112, subnormal
  // or not.
  const std::uint32_t moved = static_cast<std::uint32_t>(bits & 0x7FFF) << 13;
  float magnitude;
  memcpy(&magnitude, &moved, sizeof magnitude);
  magnitude *= 0x1p112f;
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <class Number>
TEMPERA_HOST_DEVICE inline Number number_at(const std::byte* bytes, std::size_t index) {
  Number number;
  memcpy(&number, bytes + index * sizeof number, sizeof number);
  return number;
}

/// The quant of `Bits` bits of input i, its words being at `words`.
template <unsigned Bits>
TEMPERA_HOST_DEVICE inline std::uint32_t quant_at(const std::byte* words, std::size_t lane,
                                                  std::size_t i) {
  constexpr std::size_t in_word = 32 / Bits;
  const auto word = number_at<std::uint32_t>(words, i / in_word * lanes + lane);
  return word >> (Bits * (i % in_word)) & ((1U << Bits) - 1U);
}

/// The weight of output `lane` and an input in a block of outputs that begins at `block`.
TEMPERA_HOST_DEVICE inline float weight_of_block(Packing packing, const std::byte* block,
                                                 std::size_t lane, std::size_t input) {
  const PackedLayout layout = packed_layout(packing);
  const std::byte* const stored = block + input / layout.inputs * layout.bytes;
  const std::byte* const offsets = stored + layout.offsets;
  const std::byte* const quants = stored + layout.quants;
  const std::size_t i = input % layout.inputs;
  const auto scale = [&](std::size_t index) {
    return finite_float16(number_at<std::uint16_t>(stored, index));
  };
  const std::byte* const high_quants = stored + layout.high_quants;
  const auto five_bits = [&] {
    return quant_at<4>(quants, lane, i) | quant_at<1>(high_quants, lane, i) << 4;
  };
  const auto signed_byte = [&](std::size_t run) {
    return static_cast<float>(number_at<std::int8_t>(offsets, run * lanes + lane));
  };
  const auto with_minimum = [&](std::size_t run, std::uint32_t quant) {
    const std::size_t begin = run * 2 * lanes + lane;  // of its scales; its minima follow
    const float step = scale(lane) * static_cast<float>(number_at<std::uint8_t>(offsets, begin));
    const float offset =
        scale(lanes + lane) * static_cast<float>(number_at<std::uint8_t>(offsets, begin + lanes));
    return fused_multiply_add(step, static_cast<float>(quant), -offset);
  };
  switch (packing) {
    case Packing::float32:
      return number_at<float>(stored, lane);
    case Packing::bfloat16:
      return weight_value(number_at<std::uint16_t>(stored, lane));
    case Packing::float16:
      return scale(lane);
    case Packing::q8_0:
      return scale(lane) *
             static_cast<float>(static_cast<std::int8_t>(quant_at<8>(quants, lane, i)));
    case Packing::q4_0:
      return scale(lane) * static_cast<float>(static_cast<int>(quant_at<4>(quants, lane, i)) - 8);
    case Packing::q4_1:
      return fused_multiply_add(scale(lane), static_cast<float>(quant_at<4>(quants, lane, i)),
                                finite_float16(number_at<std::uint16_t>(offsets, lane)));
    case Packing::q4_k:
      return with_minimum(i / 32, quant_at<4>(quants, lane, i));
    case Packing::q6_k:
      return scale(lane) * signed_byte(i / 16) *
             static_cast<float>(static_cast<int>(quant_at<4>(quants, lane, i) |
                                                 quant_at<2>(high_quants, lane, i) << 4) -
                                32);
    case Packing::q5_0:
      return scale(lane) * static_cast<float>(static_cast<int>(five_bits()) - 16);
    case Packing::q5_1:
      return fused_multiply_add(scale(lane), static_cast<float>(five_bits()),
                                finite_float16(number_at<std::uint16_t>(offsets, lane)));
    case Packing::q5_k:
      return with_minimum(i / 32, five_bits());
    case Packing::q2_k:
      return with_minimum(i / 16, quant_at<2>(quants, lane, i));
    default:
      return scale(lane) * signed_byte(i / 32) *
             static_cast<float>(static_cast<std::int8_t>(quant_at<8>(quants, lane, i)));
  }
}

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
