#pragma once

#include "gpu/device/pair_lanes.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/host/float32_tiling.hpp"
#include "gpu/llm/transformer/kernels/host/run_products.hpp"
#include "gpu/llm/transformer/weights/pair_word.hpp"

// Sums of pairs of the arithmetic `bfloat16-pairs`: rows of inputs with blocks of 16 results that
// are side by side. Matrix products, scores and sums of values are all made of them.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Rows of a tile, whose sums stay in registers: with two chains of each, two blocks and the
/// totals, 24 of AVX-512's 32; with one chain, 12 of AVX2's 16.
constexpr std::size_t pair_tile_rows = register_lanes == 16 ? 4 : register_lanes == 8 ? 6 : 1;
/// Blocks of a tile of so many rows. A single row's sums would wait for each other.
template <std::size_t Rows>
constexpr std::size_t pair_tile_blocks = register_lanes == 16 || (register_lanes == 8 && Rows == 1)
                                             ? 2
                                             : 1;
/// Whether a tile's two chains go side by side: if registers are few, one waits in memory.
template <std::size_t Rows, std::size_t Blocks>
constexpr bool chains_side_by_side = register_lanes == 16 ||
                                     (register_lanes == 8 && Rows * Blocks * 2 <= 6);

/// A pair of a segment: those of a chain come in turn.
struct PairPlace {
  std::size_t segment;  // its first pair
  std::size_t chain;
  std::size_t turn;

  constexpr std::size_t pair() const { return segment + chain + 2 * turn; }
  /// Where its numbers are among those that are in the order in which chains take them: of a
  /// segment the even pairs, then the odd ones, the later number of each first.
  constexpr std::size_t number(std::size_t number) const {
    return segment * pair_inputs + chain * segment_pairs + turn * pair_inputs + 1 - number;
  }
};

/// Where the pair of an input is.
constexpr PairPlace place_of_input(std::size_t input) {
  const std::size_t pair = input / pair_inputs;
  return {pair / segment_pairs * segment_pairs, pair % 2, pair % segment_pairs / 2};
}

/// Rows of inputs, two in a word: [rows, stride] words.
struct WordInputs {
  const std::uint32_t* words;
  std::size_t stride;

  PairRegister operator()(std::size_t row, const PairPlace& place) const {
    return broadcast_pair(words[row * stride + place.pair()]);
  }
  template <std::size_t Number>
  FloatRegister number(std::size_t row, const PairPlace& place) const {
    const std::uint32_t word = words[row * stride + place.pair()];
    return reinterpret_cast<FloatRegister>(
        broadcast_word(Number == 0 ? word << 16 : word & 0xFFFF0000U));
  }
  WordInputs from(std::size_t row, std::size_t pair) const {
    return {words + row * stride + pair, stride};
  }
};

/// The same inputs, made floats, in the order in which chains take them: [rows, stride].
struct FloatInputs {
  const float* values;
  std::size_t stride;

  template <std::size_t Number>
  FloatRegister number(std::size_t row, const PairPlace& place) const {
    return broadcast_register(values[row * stride + place.number(Number)]);
  }
  FloatInputs from(std::size_t row, std::size_t pair) const {
    return {values + row * stride + pair * pair_inputs, stride};
  }
};

/// Makes floats of bfloat16s, in the order in which chains take them; zeros up to whole pairs.
inline void make_floats(const std::uint16_t* values, std::size_t count, float* target) {
  const std::size_t whole = count / pair_segment_inputs * pair_segment_inputs;
  for (std::size_t i = 0; i < whole; i += 4) {
    // A pair of each chain, the later number first.
    std::uint64_t pairs;
    memcpy(&pairs, values + i, sizeof pairs);
    const std::uint64_t even = (pairs & 0xFFFF0000U) | (pairs & 0xFFFFU) << 48;
    const std::uint64_t odd = (pairs >> 48) << 16 | (pairs >> 32) << 48;
    float* const place = target + place_of_input(i).number(1);
    memcpy(place, &even, sizeof even);
    memcpy(place + segment_pairs, &odd, sizeof odd);
  }
  for (std::size_t i = whole; i < pairs_of(count) * pair_inputs; ++i) {
    target[place_of_input(i).number(i % pair_inputs)] = i < count ? from_bfloat16(values[i]) : 0.0f;
  }
}

/// Weights of which each block is stored by itself: [pairs, lanes] words.
struct BlocksOfPairs {
  const std::uint32_t* of_block[most_item_blocks];

  const std::uint32_t* operator()(std::size_t block, const PairPlace& place) const {
    return of_block[block] + place.pair() * lanes;
  }
};

/// The same, each a stream from memory.
struct StreamsOfPairs : BlocksOfPairs {
  void ask_ahead(std::size_t block, const PairPlace& place) const {
    __builtin_prefetch(reinterpret_cast<const std::byte*>((*this)(block, place)) + stream_ahead, 0,
                       2);
  }
};

/// The same, made floats, in the order in which chains take them: [2 pairs, lanes].
struct BlocksOfFloats {
  const float* of_block[most_item_blocks];

  /// Those of a turn of a chain, in a register of a block; first: the chain's first number.
  [[gnu::always_inline]] FloatRegister operator()(std::size_t block, std::size_t register_of_block,
                                                  std::size_t first, std::size_t turn) const {
    return load_register(of_block[block] + (first + turn) * lanes +
                         register_of_block * register_lanes);
  }
};

/// A run of words. The first tile makes them floats among its sums and leaves them for the others,
/// because a loop of its own would wait for what it reads and writes. With each pair it asks for
/// one of the run that comes next.
struct RunOfPairs {
  const std::uint32_t* stored[most_item_blocks];  // [pairs, lanes]
  const std::uint32_t* next[most_item_blocks];    // [pairs, lanes]
  float* made[most_item_blocks];                  // [2 pairs, lanes]

  [[gnu::always_inline]] FloatRegister operator()(std::size_t block, std::size_t register_of_block,
                                                  std::size_t first, std::size_t turn) const {
    const std::size_t begin = register_of_block * register_lanes;
    const std::size_t segment = first / pair_segment_inputs * segment_pairs;
    const std::size_t chain = first % pair_segment_inputs / segment_pairs;
    const std::size_t pair = segment + chain + turn / pair_inputs * 2;
    if (turn % pair_inputs == 0 && begin == 0) {
      __builtin_prefetch(next[block] + pair * lanes, 0, 2);
    }
    const BitsRegister words = load_words(stored[block] + pair * lanes + begin);
    const FloatRegister weight =
        turn % pair_inputs == 0 ? number_of_words<1>(words) : number_of_words<0>(words);
    *reinterpret_cast<FloatsInMemory*>(made[block] + (first + turn) * lanes + begin) = weight;
    return weight;
  }
  BlocksOfFloats floats() const {
    BlocksOfFloats result{};
    for (std::size_t block = 0; block < most_item_blocks; ++block) {
      result.of_block[block] = made[block];
    }
    return result;
  }
};

template <class Weights>
constexpr bool are_floats =
    std::is_same_v<Weights, BlocksOfFloats> || std::is_same_v<Weights, RunOfPairs>;

/// Weights of one segment, of which each pair is stored by itself: [blocks, lanes] words.
struct RowsOfPairs {
  const std::uint32_t* of_pair[segment_pairs];

  const std::uint32_t* operator()(std::size_t block, const PairPlace& place) const {
    return of_pair[place.pair()] + block * lanes;
  }
};

/// sums[row, b] + the products of a pair of inputs[row] and weights[block + b], in the order of
/// bfloat16_pairs.hpp.
template <std::size_t Rows, std::size_t Blocks, class Inputs, class Weights>
[[gnu::always_inline]] inline void add_pair_to_sums(
    const Inputs& inputs, const Weights& weights, std::size_t block, const PairPlace& place,
    FloatRegister (&sums)[Rows][Blocks * block_registers]) {
  constexpr std::size_t registers = Blocks * block_registers;
  const auto words_of = [&](auto part) __attribute__((always_inline)) {
    return weights(block + part / block_registers, place) + part % block_registers * register_lanes;
  };
  if constexpr (std::is_same_v<Weights, StreamsOfPairs>) {
    for_each_index<Blocks>([&](auto next) { weights.ask_ahead(block + next, place); });
  }
  if constexpr (pairs_are_parted) {
    // One number of each weight at a time, which takes half of the registers.
    for_each_index<pair_inputs>([&](auto turn) __attribute__((always_inline)) {
      constexpr std::size_t number = pair_inputs - 1 - turn;
      FloatRegister weight[registers];
      for_each_index<registers>([&](auto part) __attribute__((always_inline)) {
        weight[part] = number_of_words<number>(load_words(words_of(part)));
      });
      for_each_index<Rows>([&](auto row) __attribute__((always_inline)) {
        const FloatRegister input = inputs.template number<number>(row, place);
        for_each_index<registers>([&](auto part) __attribute__((always_inline)) {
          sums[row][part] = fused_multiply_add_register(input, weight[part], sums[row][part]);
        });
      });
    });
  } else {
    PairRegister weight[registers];
    for_each_index<registers>([&](auto part) { weight[part] = load_pairs(words_of(part)); });
    for_each_index<Rows>([&](auto row) {
      const PairRegister input = inputs(row, place);
      for_each_index<registers>([&](auto part) {
        sums[row][part] = add_pair_register(input, weight[part], sums[row][part]);
      });
    });
  }
}

/// Does so with all pairs of a chain, which has so many turns.
template <std::size_t Rows, std::size_t Blocks, class Inputs, class Weights>
[[gnu::always_inline]] inline void add_chain_to_sums(
    const Inputs& inputs, const Weights& weights, std::size_t block, std::size_t segment,
    std::size_t chain, std::size_t turns, FloatRegister (&sums)[Rows][Blocks * block_registers]) {
  if constexpr (!are_floats<Weights>) {
    for (std::size_t turn = 0; turn < turns; ++turn) {
      add_pair_to_sums<Rows, Blocks>(inputs, weights, block, {segment, chain, turn}, sums);
    }
  } else {
    // Number by number: with both of a pair in a turn of the loop, the compiler would keep one of
    // 12 sums in memory.
    constexpr std::size_t registers = Blocks * block_registers;
    const std::size_t first = segment * pair_inputs + chain * segment_pairs;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < pair_segment_inputs / 2; ++i) {
      FloatRegister weight[registers];
      for_each_index<registers>([&](auto part) __attribute__((always_inline)) {
        weight[part] = weights(block + part / block_registers, part % block_registers, first, i);
      });
      for_each_index<Rows>([&](auto row) __attribute__((always_inline)) {
        const FloatRegister input =
            broadcast_register(inputs.values[row * inputs.stride + first + i]);
        for_each_index<registers>([&](auto part) __attribute__((always_inline)) {
          sums[row][part] = fused_multiply_add_register(input, weight[part], sums[row][part]);
        });
      });
    }
  }
}

/// Calls work(row, part) for every register of the sums of `Rows` rows, each number a constant.
template <std::size_t Rows, std::size_t Registers, class Work>
[[gnu::always_inline]] inline void for_each_sum(const Work& work) {
  for_each_index<Rows>([&](auto row) __attribute__((always_inline)) {
    for_each_index<Registers>([&](auto part) __attribute__((always_inline)) { work(row, part); });
  });
}

/// totals[row, b] += Σ_pairs inputs[row] · weights[block + b], segment by segment, each its even
/// pairs' chain + its odd pairs'. totals: [Rows, stride], from the block on.
template <std::size_t Rows, std::size_t Blocks, class Inputs, class Weights>
inline void add_pair_tile(const Inputs& inputs, const Weights& weights, std::size_t block,
                          std::size_t pairs, float* totals, std::size_t stride) {
  constexpr std::size_t registers = Blocks * block_registers;
  using Sums = FloatRegister[Rows][registers];
  const auto sum_at = [&](auto row, auto part) __attribute__((always_inline)) {
    return reinterpret_cast<FloatsInMemory*>(totals + row * stride + part * register_lanes);
  };
  if constexpr (chains_side_by_side<Rows, Blocks> && !are_floats<Weights>) {
    Sums total;
    for_each_sum<Rows, registers>(
        [&](auto row, auto part) { total[row][part] = *sum_at(row, part); });
    for (std::size_t begin = 0; begin < pairs; begin += segment_pairs) {
      const std::size_t end = begin + segment_pairs < pairs ? begin + segment_pairs : pairs;
      Sums even;
      Sums odd;
      for_each_sum<Rows, registers>([&](auto row, auto part) {
        even[row][part] = broadcast_register(0.0f);
        odd[row][part] = broadcast_register(0.0f);
      });
      const std::size_t turns = (end - begin) / 2;
      for (std::size_t turn = 0; turn < turns; ++turn) {
        add_pair_to_sums<Rows, Blocks>(inputs, weights, block, {begin, 0, turn}, even);
        add_pair_to_sums<Rows, Blocks>(inputs, weights, block, {begin, 1, turn}, odd);
      }
      if ((end - begin) % 2 != 0) {
        add_pair_to_sums<Rows, Blocks>(inputs, weights, block, {begin, 0, turns}, even);
      }
      for_each_sum<Rows, registers>([&](auto row, auto part) {
        total[row][part] = flushed_sum_register(
            total[row][part], flushed_sum_register(even[row][part], odd[row][part]));
      });
    }
    for_each_sum<Rows, registers>(
        [&](auto row, auto part) { *sum_at(row, part) = total[row][part]; });
  } else {
    Sums even{};  // waits in memory
    for (std::size_t begin = 0; begin < pairs; begin += segment_pairs) {
      const std::size_t end = begin + segment_pairs < pairs ? begin + segment_pairs : pairs;
      // One loop for both chains: of two, one would not keep its sums in registers.
      for (std::size_t chain = 0; chain < 2; ++chain) {
        Sums sums;
        for_each_sum<Rows, registers>(
            [&](auto row, auto part) { sums[row][part] = broadcast_register(0.0f); });
        add_chain_to_sums<Rows, Blocks>(inputs, weights, block, begin, chain,
                                        (end - begin + 1 - chain) / 2, sums);
        if (chain == 0) {
          for_each_sum<Rows, registers>(
              [&](auto row, auto part) { even[row][part] = sums[row][part]; });
        } else {
          for_each_sum<Rows, registers>([&](auto row, auto part) {
            *sum_at(row, part) = flushed_sum_register(
                *sum_at(row, part), flushed_sum_register(even[row][part], sums[row][part]));
          });
        }
      }
    }
  }
}

/// add_pair_tile for as many rows as there are, at most `Rows`, and all blocks.
template <std::size_t Rows = pair_tile_rows, class Inputs, class Weights>
inline void add_pair_tiles(std::size_t rows, std::size_t blocks, const Inputs& inputs,
                           const Weights& weights, std::size_t pairs, float* totals,
                           std::size_t stride) {
  if constexpr (Rows > 1) {
    if (rows < Rows) {
      return add_pair_tiles<Rows - 1>(rows, blocks, inputs, weights, pairs, totals, stride);
    }
  }
  constexpr std::size_t together = pair_tile_blocks<Rows>;
  std::size_t block = 0;
  for (; block + together <= blocks; block += together) {
    add_pair_tile<Rows, together>(inputs, weights, block, pairs, totals + block * lanes, stride);
  }
  for (; block < blocks; ++block) {
    add_pair_tile<Rows, 1>(inputs, weights, block, pairs, totals + block * lanes, stride);
  }
}

/// Does what add_pair_tile does, for any number of rows and blocks, while SubnormalsAreZero: a
/// function of its own, so that nothing is computed before or after.
template <class Inputs, class Weights>
[[gnu::noipa]] void add_pair_products(std::size_t rows, std::size_t blocks, std::size_t pairs,
                                      const Inputs& inputs, const Weights& weights, float* totals,
                                      std::size_t stride) {
  const std::size_t tiles = (rows + pair_tile_rows - 1) / pair_tile_rows;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    const std::size_t first = rows * tile / tiles;
    const std::size_t count = rows * (tile + 1) / tiles - first;
    const auto add = [&](const auto& taken) {
      add_pair_tiles(count, blocks, inputs.from(first, 0), taken, pairs, totals + first * stride,
                     stride);
    };
    if constexpr (std::is_same_v<Weights, RunOfPairs>) {
      if (tile == 0) {
        add(weights);
      } else {
        add(weights.floats());
      }
    } else {
      add(weights);
    }
  }
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
