#pragma once

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/host/pair_products.hpp"
#include "gpu/llm/transformer/weights/pair_word.hpp"

// The weights of the arithmetic `bfloat16-pairs`, a run of one block of outputs at a time, and one
// by one.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Pairs of a run: those of its blocks stay near the core while all rows take them.
constexpr std::size_t run_pairs = pairs_are_parted ? 64 : 128;

/// Room for a run of a block, if it has to be made: words, or floats where pairs are parted.
struct alignas(64) PairRoom {
  std::uint32_t words[run_pairs * lanes * (pairs_are_parted ? pair_inputs : 1)];
};

/// Weights of a type, each rounded to bfloat16. In three operations, as Veltkamp splits a number:
/// 2^16 x, rounded to the 24 bits of x + 2^16 x, is what is taken away from them. A quantised
/// weight that is not 0 is a multiple of 2^-24, the least scale, and below 2^45.
template <Packing Type>
inline FloatRegister rounded_to_bfloat16(FloatRegister values) {
  if constexpr (Type == Packing::bfloat16) {
    return values;
  } else if constexpr (Type == Packing::float32) {
    const auto bits = reinterpret_cast<BitsRegister>(values);
    return reinterpret_cast<FloatRegister>((bits + 0x7FFFU + ((bits >> 16) & 1U)) & 0xFFFF0000U);
  } else {
    const FloatRegister scaled = values * broadcast_register(65537.0f);
    return scaled - (scaled - values);
  }
}

/// Rounded when they were packed.
struct PackedPairs {
  const std::uint32_t* words;
  std::size_t in;

  /// Most rows that take them from where they are.
  static constexpr std::size_t direct_rows = pair_tile_rows;

  float operator()(std::size_t output, std::size_t input) const {
    return from_bfloat16(static_cast<std::uint16_t>(words[pair_word(in, output, input)] >>
                                                    (16 * (input % pair_inputs))));
  }
  /// Those of the outputs from `output` on, which is a multiple of 16.
  PackedPairs from(std::size_t output) const { return {words + output * pairs_of(in), in}; }
  /// Nothing is asked for: they are read as they are, which the processor foresees.
  WeightsAhead ahead(const ProductItem& /*item*/, const Float32Tiling& /*tiling*/) const {
    return {nullptr, 0};
  }
  /// The pairs first … end - 1 of a block of outputs, [pairs, lanes] words.
  const std::uint32_t* run(std::size_t output, std::size_t first, std::size_t /*end*/,
                           PairRoom& /*room*/, const std::byte* /*ahead*/) const {
    return words + output * pairs_of(in) + first * lanes;
  }
  /// What a tile takes of a run of an item's block.
  using Run = std::conditional_t<pairs_are_parted, RunOfPairs, BlocksOfPairs>;
  template <class Taken>
  void take_run(const ProductItem& item, std::size_t block, std::size_t first, std::size_t end,
                PairRoom& room, const std::byte* ahead, Taken& taken) const {
    const std::size_t output = item.first_output + block * lanes;
    const std::uint32_t* const stored = run(output, first, end, room, ahead);
    if constexpr (pairs_are_parted) {
      taken.stored[block] = stored;
      taken.made[block] = reinterpret_cast<float*>(room.words);
      // After the last run, the first of what is likely to be this thread's next item.
      taken.next[block] = end < pairs_of(in)
                              ? stored + run_pairs * lanes
                              : words + (output + item.blocks() * lanes) * pairs_of(in);
    } else {
      taken.of_block[block] = stored;
    }
  }
};

/// The pair of two floats, each rounded to bfloat16, in every lane; of numbers that are finite and,
/// if not zero, at least 2^-24.
inline BitsRegister pair_of_floats(FloatRegister first, FloatRegister second) {
#if defined(__AVX512BF16__)
  const __m512i words = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first));
  const __m512i interleaved =
      _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                       21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return reinterpret_cast<BitsRegister>(_mm512_maskz_permutexvar_epi16(~0U, interleaved, words));
#else
  const auto rounded = [](FloatRegister values) {
    const auto bits = reinterpret_cast<BitsRegister>(values);
    return bits + 0x7FFFU + ((bits >> 16) & 1U);
  };
  return rounded(first) >> 16 | (rounded(second) & 0xFFFF0000U);
#endif
}

/// Rounded when they are used: once for all rows of an item. (A quantised weight that is not 0 is a
/// multiple of 2^-24, the least scale.)
struct QuantisedPairs {
  static constexpr std::size_t direct_rows = 2;

  QuantisedWeights weights;

  float operator()(std::size_t output, std::size_t input) const {
    return from_bfloat16(to_bfloat16(weights(output, input)));
  }
  QuantisedPairs from(std::size_t output) const { return {weights.from(output)}; }
  WeightsAhead ahead(const ProductItem& item, const Float32Tiling& tiling) const {
    return WeightsAhead::of(item, tiling, weights);
  }
  /// The same as above. With each four inputs it asks for a line of memory from `ahead` on.
  const std::uint32_t* run(std::size_t output, std::size_t first, std::size_t end, PairRoom& room,
                           const std::byte* ahead) const {
    with_block_reader<1>(weights, output, [&](const auto& reader) {
      FloatLanes<lanes> earlier = broadcast<lanes>(0.0f);
      reader(
          first * pair_inputs, end * pair_inputs,
          [&](std::size_t i, const FloatLanes<lanes>& weight) __attribute__((always_inline)) {
            if (i % 4 == 0) __builtin_prefetch(ahead + (i - first * pair_inputs) * 16, 0, 2);
            if (i % pair_inputs == 0) {
              earlier = weight;
              return;
            }
            std::uint32_t* const target = room.words + (i / pair_inputs - first) * lanes;
            for (std::size_t part = 0; part < FloatLanes<lanes>::registers; ++part) {
              *reinterpret_cast<WordsInMemory*>(target + part * register_lanes) =
                  pair_of_floats(earlier.parts[part], weight.parts[part]);
            }
          });
    });
    return room.words;
  }
  /// The same as floats in the order in which chains take them, [2 pairs, lanes], in the room.
  const float* floats(std::size_t output, std::size_t first, std::size_t end, PairRoom& room,
                      const std::byte* ahead) const {
    float* const made = reinterpret_cast<float*>(room.words);
    with_block_reader<1>(weights, output, [&](const auto& reader) {
      using Reader = std::remove_cvref_t<decltype(reader)>;
      reader(
          first * pair_inputs, end * pair_inputs,
          [&](std::size_t i, const FloatLanes<lanes>& weight) __attribute__((always_inline)) {
            const std::size_t place = i - first * pair_inputs;
            if (i % 4 == 0) __builtin_prefetch(ahead + place * 16, 0, 2);
            float* const target = made + place_of_input(place).number(i % pair_inputs) * lanes;
            for (std::size_t part = 0; part < FloatLanes<lanes>::registers; ++part) {
              *reinterpret_cast<FloatsInMemory*>(target + part * register_lanes) =
                  rounded_to_bfloat16<Reader::type>(weight.parts[part]);
            }
          });
    });
    return made;
  }
  using Run = std::conditional_t<pairs_are_parted, BlocksOfFloats, BlocksOfPairs>;
  template <class Taken>
  void take_run(const ProductItem& item, std::size_t block, std::size_t first, std::size_t end,
                PairRoom& room, const std::byte* ahead, Taken& taken) const {
    const std::size_t output = item.first_output + block * lanes;
    if constexpr (pairs_are_parted) {
      taken.of_block[block] = floats(output, first, end, room, ahead);
    } else {
      taken.of_block[block] = run(output, first, end, room, ahead);
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
