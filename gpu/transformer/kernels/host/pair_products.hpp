#pragma once

#include "gpu/device/pair_lanes.hpp"
#include "gpu/transformer/kernels/host/float32_tiling.hpp"
#include "gpu/transformer/kernels/host/run_products.hpp"

// Sums of pairs of the arithmetic `bfloat16-pairs`: rows of inputs with blocks of 16 results that
// are side by side. Matrix products, scores and sums of values are all made of them.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Whether a tile's two chains go side by side: if registers are few, one waits in memory.
constexpr bool chains_side_by_side = register_lanes == 16;
/// Rows and blocks of a tile, whose sums stay in registers: two chains and the total of each, 24 of
/// AVX-512's 32.
constexpr std::size_t pair_tile_rows = register_lanes == 16 ? 4 : register_lanes == 8 ? 4 : 1;
constexpr std::size_t pair_tile_blocks = register_lanes == 16 ? 2 : 1;

/// Rows of inputs, two in a word: [rows, stride] words.
struct WordInputs {
  const std::uint32_t* words;
  std::size_t stride;

  PairRegister operator()(std::size_t row, std::size_t pair) const {
    return broadcast_pair(words[row * stride + pair]);
  }
  WordInputs from(std::size_t row, std::size_t pair) const {
    return {words + row * stride + pair, stride};
  }
};

#if defined(__FMA__) && !defined(__AVX512BF16__)
/// The same inputs, made floats: [rows, 2 stride].
struct FloatInputs {
  const float* values;
  std::size_t stride;  // in pairs

  PairRegister operator()(std::size_t row, std::size_t pair) const {
    const float* const first = values + (row * stride + pair) * pair_inputs;
    return {broadcast_register(first[0]), broadcast_register(first[1])};
  }
  FloatInputs from(std::size_t row, std::size_t pair) const {
    return {values + (row * stride + pair) * pair_inputs, stride};
  }
};
#endif

/// Weights of which each block is stored by itself: [pairs, lanes] words.
struct BlocksOfPairs {
  const std::uint32_t* of_block[most_item_blocks];

  const std::uint32_t* operator()(std::size_t block, std::size_t pair) const {
    return of_block[block] + pair * lanes;
  }
};

/// Weights of one segment, of which each pair is stored by itself: [blocks, lanes] words.
struct RowsOfPairs {
  const std::uint32_t* of_pair[segment_pairs];

  const std::uint32_t* operator()(std::size_t block, std::size_t pair) const {
    return of_pair[pair] + block * lanes;
  }
};

/// totals[row, b] += Σ_pairs inputs[row] · weights[block + b], segment by segment, each its even
/// pairs' chain + its odd pairs'. totals: [Rows, stride], from the block on.
template <std::size_t Rows, std::size_t Blocks, class Inputs, class Weights>
inline void add_pair_tile(const Inputs& inputs, const Weights& weights, std::size_t block,
                          std::size_t pairs, float* totals, std::size_t stride) {
  constexpr std::size_t registers = Blocks * block_registers;
  const auto sum_at = [&](auto row, auto part) __attribute__((always_inline)) {
    return reinterpret_cast<FloatsInMemory*>(totals + row * stride + part * register_lanes);
  };
  FloatRegister total[Rows][registers];
  for_each_index<Rows>([&](auto row) {
    for_each_index<registers>([&](auto part) { total[row][part] = *sum_at(row, part); });
  });
  for (std::size_t begin = 0; begin < pairs; begin += segment_pairs) {
    const std::size_t end = begin + segment_pairs < pairs ? begin + segment_pairs : pairs;
    FloatRegister sums[2][Rows][registers];
    const auto clear = [&](auto chain) __attribute__((always_inline)) {
      for_each_index<Rows>([&](auto row) {
        for_each_index<registers>(
            [&](auto part) { sums[chain][row][part] = broadcast_register(0.0f); });
      });
    };
    const auto add = [&](auto chain, std::size_t pair) __attribute__((always_inline)) {
      PairRegister weight[registers];
      for_each_index<registers>([&](auto part) {
        weight[part] = load_pairs(weights(block + part / block_registers, pair) +
                                  part % block_registers * register_lanes);
      });
      for_each_index<Rows>([&](auto row) {
        const PairRegister input = inputs(row, pair);
        for_each_index<registers>([&](auto part) {
          sums[chain][row][part] = add_pair_register(input, weight[part], sums[chain][row][part]);
        });
      });
    };
    constexpr std::integral_constant<std::size_t, 0> even;
    constexpr std::integral_constant<std::size_t, 1> odd;
    clear(even);
    if constexpr (chains_side_by_side) {
      clear(odd);
      std::size_t pair = begin;
      for (; pair + 2 <= end; pair += 2) {
        add(even, pair);
        add(odd, pair + 1);
      }
      if (pair < end) add(even, pair);
    } else {
      for (std::size_t pair = begin; pair < end; pair += 2) add(even, pair);
      clear(odd);
      for (std::size_t pair = begin + 1; pair < end; pair += 2) add(odd, pair);
    }
    for_each_index<Rows>([&](auto row) {
      for_each_index<registers>([&](auto part) {
        total[row][part] = flushed_sum_register(
            total[row][part], flushed_sum_register(sums[0][row][part], sums[1][row][part]));
      });
    });
  }
  for_each_index<Rows>([&](auto row) {
    for_each_index<registers>([&](auto part) { *sum_at(row, part) = total[row][part]; });
  });
}

/// add_pair_tile for as many rows as there are, at most `Rows`.
template <std::size_t Blocks, std::size_t Rows = pair_tile_rows, class Inputs, class Weights>
inline void add_pair_tile_of(std::size_t rows, const Inputs& inputs, const Weights& weights,
                             std::size_t block, std::size_t pairs, float* totals,
                             std::size_t stride) {
  if constexpr (Rows > 1) {
    if (rows < Rows) {
      return add_pair_tile_of<Blocks, Rows - 1>(rows, inputs, weights, block, pairs, totals,
                                                stride);
    }
  }
  add_pair_tile<Rows, Blocks>(inputs, weights, block, pairs, totals, stride);
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
    const Inputs tile_inputs = inputs.from(first, 0);
    std::size_t block = 0;
    for (; block + pair_tile_blocks <= blocks; block += pair_tile_blocks) {
      add_pair_tile_of<pair_tile_blocks>(count, tile_inputs, weights, block, pairs,
                                         totals + first * stride + block * lanes, stride);
    }
    for (; block < blocks; ++block) {
      add_pair_tile_of<1>(count, tile_inputs, weights, block, pairs,
                          totals + first * stride + block * lanes, stride);
    }
  }
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
