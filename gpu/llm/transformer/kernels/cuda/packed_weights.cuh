#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"
#include "gpu/llm/transformer/weights/quantised_block.hpp"

// Quantised weights on their way into the tensor core. A pair is two steps of a tile: 32 inputs of
// 16 outputs, in at most 1 KiB. Its bytes are in shared memory as in a stored block of 32 inputs:
//   q8_0   d[16], words[8][16]
//   q4_0   d[16], words[4][16]
//   q4_1   d[16], m[16], words[4][16]
//   q4_k   d[16], e[16], scales[16], minima[16] (bytes), words[4][16]
//   q6_k   d[16], scales[2][16] (bytes), low words[4][16], high words[2][16]
//   q5_0   d[16], words[4][16], high words[16]
//   q5_1   d[16], m[16], words[4][16], high words[16]
//   q5_k   d[16], e[16], scales[16], minima[16] (bytes), words[4][16], high words[16]
//   q2_k   d[16], e[16], (scales[16], minima[16] (bytes))[2], words[2][16]
//   q8_scaled   d[16], scales[16] (bytes), words[8][16]
//   bfloat16   [32][16]
// Lane 4 g + t makes of them what mma's operand A wants of it: outputs g and g + 8, inputs 2 t,
// 2 t + 1, 2 t + 8 and 2 t + 9 of each step, by weight_of_block and rounded.
//
// A quant becomes a float without a conversion: its bits go into the fraction of 1, which makes
// 1 + q / 2^k. All that follows is exact but for what weight_of_block rounds too: a scale d has at
// most 18 significant bits (a float16's 11 and those of a whole number below 2^7), or 19 (below
// 2^8, in Q4_K), and
//   d (q - c) = fma(1 + q / 2^k, 2^k d, -(2^k + c) d)   2^k + c has at most 6 bits
//   fma(d, q, m) = fma((1 + q / 2^k) - 1, 2^k d, m)
// Only the sign of a zero may be another, which no step of the tensor core sees.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

TEMPERA_ON_DEVICE inline float float_of(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

TEMPERA_ON_DEVICE inline std::uint32_t rotate_left(std::uint32_t word, unsigned by) {
  return word << by | word >> (32 - by);  // by is not 0
}

/// Two weights as mma takes them.
TEMPERA_ON_DEVICE inline std::uint32_t rounded_pair(float first, float second) {
  return simt::round_to_bfloat16s(first, second);
}

/// Weights from the bits of quants in the fractions of ones: of the first of two neighbouring
/// inputs, and of the second.
struct ScaledQuants {
  float first_factor;
  float second_factor;
  float first_sum;
  float second_sum;

  /// d (q - c), the fractions being q / 2^k of two k.
  TEMPERA_ON_DEVICE static ScaledQuants centred(float d, float first_power, float second_power,
                                                float c) {
    return {first_power * d, second_power * d, -(first_power + c) * d, -(second_power + c) * d};
  }
  TEMPERA_ON_DEVICE std::uint32_t rounded(std::uint32_t first, std::uint32_t second) const {
    return rounded_pair(fused_multiply_add(float_of(first), first_factor, first_sum),
                        fused_multiply_add(float_of(second), second_factor, second_sum));
  }
};

/// fma(d, q, m), rounded once more, of quants as in ScaledQuants.
struct ScaledQuantsWithOffset {
  float first_factor;
  float second_factor;
  float offset;

  TEMPERA_ON_DEVICE static ScaledQuantsWithOffset of(float d, float first_power, float second_power,
                                                     float offset) {
    return {first_power * d, second_power * d, offset};
  }
  TEMPERA_ON_DEVICE std::uint32_t rounded(std::uint32_t first, std::uint32_t second) const {
    return rounded_pair(fused_multiply_add(float_of(first) - 1.0f, first_factor, offset),
                        fused_multiply_add(float_of(second) - 1.0f, second_factor, offset));
  }
};

constexpr std::uint32_t bits_of_one = 0x3F800000;

/// The weights of two quants of four bits: byte t of a word.
template <class Scaled>
TEMPERA_ON_DEVICE inline std::uint32_t four_bit_weights(std::uint32_t word, unsigned t,
                                                        const Scaled& scaled) {
  const std::uint32_t moved = rotate_left(word, (47 - 8 * t) % 32);  // the byte to bits 15 … 22
  return scaled.rounded((moved & 0x00078000U) | bits_of_one, (moved & 0x00780000U) | bits_of_one);
}
constexpr float first_four_bits = 256;
constexpr float second_four_bits = 16;

/// What a lane reads of a pair: output g, or g + 8.
struct PairReader {
  const std::byte* slot;
  unsigned output;
  unsigned t;

  /// That of the output, of numbers of which each output has one; begin: in bytes.
  template <class Number>
  TEMPERA_ON_DEVICE Number number(unsigned begin, unsigned index = 0) const {
    return reinterpret_cast<const Number*>(slot + begin)[index * tile_outputs + output];
  }
  TEMPERA_ON_DEVICE float float16(unsigned begin) const {
    return finite_float16(number<std::uint16_t>(begin));
  }
  template <class Number>
  TEMPERA_ON_DEVICE float whole(unsigned begin) const {
    return static_cast<float>(number<Number>(begin));
  }
  TEMPERA_ON_DEVICE std::uint32_t word(unsigned begin, unsigned index) const {
    return number<std::uint32_t>(begin, index);
  }
};

/// The two weights of the reader's output that are registers `half` of step `step`: inputs
/// 16 step + 8 half + 2 t and the next. Put(step, half, word) takes them.
template <Packing Type, class Put>
TEMPERA_ON_DEVICE inline void read_pair(const PairReader& reader, const Put& put) {
  const auto with_four_bits = [&](unsigned words, const auto& scaled) {
    TEMPERA_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      put(i / 2, i % 2, four_bit_weights(reader.word(words, i), reader.t, scaled));
    }
  };
  const auto with_eight_bits = [&](unsigned words, float d) {
    const auto scaled = ScaledQuants::centred(d, 256, 256, 128);
    TEMPERA_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      // Bytes 2 (t % 2) and the next of the word, each to bits 15 … 22 and made q + 128.
      const std::uint32_t moved =
          rotate_left(reader.word(words, 2 * i + reader.t / 2), 15 + reader.t % 2 * 16);
      constexpr std::uint32_t turned = bits_of_one ^ 0x00400000U;
      put(i / 2, i % 2,
          scaled.rounded((moved & 0x007F8000U) ^ turned, (moved >> 8 & 0x007F8000U) ^ turned));
    }
  };
  const auto with_five_bits = [&](unsigned words, unsigned high_word, const auto& scaled) {
    const std::uint32_t high = reader.word(high_word, 0) >> (2 * reader.t);
    TEMPERA_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      // Both quants to bits 18 … 22.
      const std::uint32_t low = reader.word(words, i) >> (8 * reader.t);
      const std::uint32_t of_word = high >> (8 * i);
      put(i / 2, i % 2,
          scaled.rounded((low & 15U) << 18 | (of_word & 1U) << 22 | bits_of_one,
                         (low >> 4 & 15U) << 18 | (of_word >> 1 & 1U) << 22 | bits_of_one));
    }
  };
  const auto with_minimum = [&](unsigned scales, float first_power, float second_power) {
    return ScaledQuantsWithOffset::of(
        reader.float16(0) * reader.whole<std::uint8_t>(scales), first_power, second_power,
        -(reader.float16(32) * reader.whole<std::uint8_t>(scales + tile_outputs)));
  };
  switch (Type) {
    case Packing::q8_0:
      return with_eight_bits(32, reader.float16(0));
    case Packing::q4_0:
      return with_four_bits(
          32, ScaledQuants::centred(reader.float16(0), first_four_bits, second_four_bits, 8));
    case Packing::q4_1:
      return with_four_bits(64, ScaledQuantsWithOffset::of(reader.float16(0), first_four_bits,
                                                           second_four_bits, reader.float16(32)));
    case Packing::q4_k:
      return with_four_bits(96, with_minimum(64, first_four_bits, second_four_bits));
    case Packing::q5_0:
      return with_five_bits(32, 288, ScaledQuants::centred(reader.float16(0), 32, 32, 16));
    case Packing::q5_1:
      return with_five_bits(
          64, 320, ScaledQuantsWithOffset::of(reader.float16(0), 32, 32, reader.float16(32)));
    case Packing::q5_k:
      return with_five_bits(96, 352, with_minimum(64, 32, 32));
    case Packing::q2_k:
      TEMPERA_UNROLL
      for (unsigned step = 0; step < 2; ++step) {
        const auto scaled = with_minimum(64 + step * 2 * tile_outputs, 4, 4);
        const std::uint32_t word = reader.word(128, step) >> (4 * reader.t);
        TEMPERA_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
          // Both quants to bits 21 and 22.
          const std::uint32_t quants = word >> (16 * half);
          put(step, half,
              scaled.rounded((quants & 3U) << 21 | bits_of_one,
                             (quants >> 2 & 3U) << 21 | bits_of_one));
        }
      }
      return;
    case Packing::q8_scaled:
      return with_eight_bits(48, reader.float16(0) * reader.whole<std::int8_t>(32));
    case Packing::q6_k: {
      const float d = reader.float16(0);
      TEMPERA_UNROLL
      for (unsigned step = 0; step < 2; ++step) {
        const auto scaled = ScaledQuants::centred(
            d * reader.whole<std::int8_t>(32 + step * tile_outputs), 1024, 64, 32);
        // Of half 0 the first quant's two bits at 17 and 18. Constants do the rest: a distance that
        // depends on the lane takes a register through the whole product.
        const std::uint32_t high = rotate_left(reader.word(320, step), (49 - 4 * reader.t) % 32);
        TEMPERA_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
          // Six bits at 13 … 18, and at 17 … 22.
          const std::uint32_t low =
              rotate_left(reader.word(64, 2 * step + half), (45 - 8 * reader.t) % 32);
          const std::uint32_t of_half = half == 0 ? high : rotate_left(high, 16);
          const std::uint32_t first = of_half & 0x00060000U;
          const std::uint32_t second = rotate_left(of_half, 2) & 0x00600000U;
          put(step, half,
              scaled.rounded((low & 0x0001E000U) | first | bits_of_one,
                             (low & 0x001E0000U) | second | bits_of_one));
        }
      }
      return;
    }
    default:  // bfloat16
      TEMPERA_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned input = 8 * i + 2 * reader.t;
        const std::uint32_t second = reader.number<std::uint16_t>(0, input + 1);
        put(i / 2, i % 2, reader.number<std::uint16_t>(0, input) | second << 16);
      }
  }
}

/// Room for the packed bytes, or the fragments, of a pair, in 16 bytes.
constexpr unsigned pair_vectors = 64;

TEMPERA_ON_DEVICE constexpr unsigned in_vectors(std::size_t bytes) {
  return static_cast<unsigned>(bytes / sizeof(simt::Vector16));
}

/// How a product takes weights in blocks (MatrixView::quantised).
struct PackedWeights {
  /// Lanes read what others of their warp have copied.
  static constexpr bool across_lanes = true;

  const std::byte* bytes;
  const std::uint64_t* blocks;

  struct Tile {
    const std::byte* begin;
    Packing packing;
  };
  template <class ProductOperands>
  TEMPERA_ON_DEVICE static PackedWeights of(const ProductOperands& operands) {
    return {operands.quantised, operands.blocks};
  }
  TEMPERA_ON_DEVICE Tile tile(unsigned tile, unsigned /*steps*/) const {
    const std::uint64_t block = blocks[tile];
    return {bytes + begin_of(block), packing_of(block)};
  }

  /// Copies a pair of a block of 256 inputs: the numbers of the whole block (d, or d and e), then
  /// the pair's eighth of scales and minima, of quants, and of their high bits, if there are any.
  template <Packing Type, class Copy>
  TEMPERA_ON_DEVICE static void fetch_runs(unsigned pair, unsigned lane, const Copy& copy) {
    constexpr PackedLayout layout = packed_layout(Type);
    constexpr unsigned pairs = 8;
    constexpr unsigned all = in_vectors(layout.bytes);
    constexpr unsigned offsets = in_vectors(layout.offsets);
    constexpr unsigned quants = in_vectors(layout.quants);
    constexpr unsigned high = layout.high_quants == 0 ? all : in_vectors(layout.high_quants);
    constexpr unsigned own_offsets = (quants - offsets) / pairs;
    constexpr unsigned own_quants = (high - quants) / pairs;
    constexpr unsigned own_high = (all - high) / pairs;
    constexpr unsigned quants_to = offsets + own_offsets;
    constexpr unsigned high_to = quants_to + own_quants;
    const unsigned in_block = pair % pairs;
    TEMPERA_UNROLL
    for (unsigned begin = 0; begin < high_to + own_high; begin += simt::warp_lanes) {
      const unsigned v = begin + lane;
      const unsigned from = v < offsets     ? v
                            : v < quants_to ? offsets + own_offsets * in_block + v - offsets
                            : v < high_to   ? quants + own_quants * in_block + v - quants_to
                                            : high + own_high * in_block + v - high_to;
      if (v < high_to + own_high) copy(v, pair / pairs * all + from);
    }
  }

  /// Asks for the steps `step`, which is even, and step + 1 of a tile. slot: 1 KiB. Lanes have 16
  /// bytes each, neighbours side by side.
  TEMPERA_ON_DEVICE static void fetch(const Tile& tile, unsigned step, bool /*has_second*/,
                                      simt::Vector16* slot) {
    const unsigned pair = step / 2;
    const unsigned lane = simt::lane();
    const auto copy = [&](unsigned to, unsigned from) {
      simt::copy_stream_async(slot + to, tile.begin + std::size_t{from} * sizeof(simt::Vector16));
    };
    switch (tile.packing) {
      case Packing::q4_k:
        return fetch_runs<Packing::q4_k>(pair, lane, copy);
      case Packing::q6_k:
        return fetch_runs<Packing::q6_k>(pair, lane, copy);
      case Packing::q5_k:
        return fetch_runs<Packing::q5_k>(pair, lane, copy);
      case Packing::q2_k:
        return fetch_runs<Packing::q2_k>(pair, lane, copy);
      case Packing::q8_scaled:
        return fetch_runs<Packing::q8_scaled>(pair, lane, copy);
      default: {
        const PackedLayout layout = packed_layout(tile.packing);
        const unsigned vectors = in_vectors(32 / layout.inputs * layout.bytes);
        TEMPERA_UNROLL
        for (unsigned v = lane; v < pair_vectors; v += simt::warp_lanes) {
          if (v < vectors) copy(v, pair * vectors + v);
        }
      }
    }
  }

  /// This lane's registers of both steps.
  TEMPERA_ON_DEVICE static void take(const Tile& tile, const simt::Vector16* slot,
                                     simt::Vector16 (&weights)[2]) {
    switch (tile.packing) {
      case Packing::q8_0:
        return take_as<Packing::q8_0>(slot, weights);
      case Packing::q4_0:
        return take_as<Packing::q4_0>(slot, weights);
      case Packing::q4_1:
        return take_as<Packing::q4_1>(slot, weights);
      case Packing::q4_k:
        return take_as<Packing::q4_k>(slot, weights);
      case Packing::q6_k:
        return take_as<Packing::q6_k>(slot, weights);
      case Packing::q5_0:
        return take_as<Packing::q5_0>(slot, weights);
      case Packing::q5_1:
        return take_as<Packing::q5_1>(slot, weights);
      case Packing::q5_k:
        return take_as<Packing::q5_k>(slot, weights);
      case Packing::q2_k:
        return take_as<Packing::q2_k>(slot, weights);
      case Packing::q8_scaled:
        return take_as<Packing::q8_scaled>(slot, weights);
      default:
        return take_as<Packing::bfloat16>(slot, weights);
    }
  }

 private:
  template <Packing Type>
  TEMPERA_ON_DEVICE static void take_as(const simt::Vector16* slot, simt::Vector16 (&weights)[2]) {
    std::uint32_t registers[2][4];
    TEMPERA_UNROLL
    for (unsigned row = 0; row < 2; ++row) {
      const PairReader reader{reinterpret_cast<const std::byte*>(slot), simt::lane() / 4 + 8 * row,
                              simt::lane() % 4};
      read_pair<Type>(reader, [&](unsigned step, unsigned half, std::uint32_t word) {
        registers[step][row + 2 * half] = word;
      });
    }
    TEMPERA_UNROLL
    for (unsigned step = 0; step < 2; ++step) {
      const auto& words = registers[step];
      weights[step] = {words[0], words[1], words[2], words[3]};
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
