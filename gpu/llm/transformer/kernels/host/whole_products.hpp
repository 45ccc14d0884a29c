#pragma once

#include "gpu/device/whole_numbers.hpp"
#include "gpu/llm/transformer/kernels/host/exponential_lanes.hpp"
#include "gpu/llm/transformer/kernels/host/float32_tiling.hpp"
#include "gpu/llm/transformer/kernels/host/run_products.hpp"
#include "gpu/llm/transformer/kernels/host/whole_lanes.hpp"
#include "gpu/llm/transformer/weights/whole_words.hpp"

// Products of rows and blocks of outputs as whole numbers. Their sums are exact, so that tiles cut
// them as they like; segments, whose results are floats, are added in ascending order.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// The inputs of a product as whole numbers: [rows, stride] words of two, zeros up to whole pairs
/// of pair_word; and the steps of their segments.
struct WholeInputs {
  const float* inputs;  // [rows, in]
  std::size_t rows;
  std::size_t in;
  float* memory;  // floats()

  /// A cache line more than a row has, so that a tile's rows do not share the same few places of
  /// the first-level cache.
  std::size_t stride() const { return pairs_of(in) + 16; }
  std::size_t steps_of_row() const { return whole_segments(in); }
  std::size_t floats() const { return rows * (stride() + steps_of_row()); }

  std::uint32_t* words(std::size_t row) const {
    return reinterpret_cast<std::uint32_t*>(memory) + row * stride();
  }
  float* steps(std::size_t row) const { return memory + rows * stride() + row * steps_of_row(); }
  /// Makes whole numbers of a row.
  void pack(std::size_t row) const {
    auto* const target = reinterpret_cast<std::int16_t*>(words(row));
    for (std::size_t begin = 0; begin < in; begin += whole_segment) {
      const std::size_t size = in - begin < whole_segment ? in - begin : whole_segment;
      const float* const x = inputs + row * in + begin;
      const WholeRow segment = whole_row(x, size, input_squares);
      steps(row)[begin / whole_segment] = segment.step();
      store_whole_row(segment, x, size, target + begin);
    }
    for (std::size_t i = in; i < pairs_of(in) * pair_inputs; ++i) target[i] = 0;
  }
};

/// Packs inputs; an item is a row.
struct PackWholeInputs {
  WholeInputs inputs;
  void operator()(std::size_t row) const { inputs.pack(row); }
};

/// Blocks of outputs that a tile of so many rows takes: a single row's sums would wait for each
/// other.
template <std::size_t Rows>
constexpr std::size_t whole_tile_blocks = Rows* block_registers <= 2   ? 4
                                          : Rows* block_registers <= 6 ? 2
                                                                       : tile_blocks;

/// products[row, 0 … 16 Blocks) of a segment, added to what is there unless it is the first one.
template <std::size_t Rows, std::size_t Blocks>
inline void whole_tile(const WholeInputs& inputs, std::size_t row, const WholeWeights& weights,
                       std::size_t output, std::size_t segment, float* products) {
  constexpr std::size_t registers = Blocks * block_registers;
  const std::size_t first = segment * whole_segment_pairs;
  const std::size_t all = pairs_of(inputs.in);
  const std::size_t pairs = all - first < whole_segment_pairs ? all - first : whole_segment_pairs;
  const std::uint32_t* const words = inputs.words(row) + first;
  const std::size_t stride = inputs.stride();
  const std::uint32_t* of_block[Blocks];
  for (std::size_t block = 0; block < Blocks; ++block) {
    of_block[block] = weights.pairs(output + block * lanes, first);
  }
  IntegerRegister sums[Rows][registers];
  for_each_index<Rows>([&](auto r) {
    for_each_index<registers>([&](auto part) { sums[r][part] = IntegerRegister{}; });
  });
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    BitsRegister weight[registers];
    for_each_index<registers>([&](auto part) {
      weight[part] =
          *reinterpret_cast<const WordsInMemory*>(of_block[part / block_registers] + pair * lanes +
                                                  part % block_registers * register_lanes);
    });
    if constexpr (Rows <= few_rows) {
      for_each_index<Blocks>([&](auto block) {
        __builtin_prefetch(
            reinterpret_cast<const std::byte*>(of_block[block] + pair * lanes) + stream_ahead, 0,
            2);
      });
    }
    for_each_index<Rows>([&](auto r) {
      const BitsRegister input = broadcast_word_register(words[r * stride + pair]);
      for_each_index<registers>(
          [&](auto part) { sums[r][part] = add_whole_pairs(sums[r][part], weight[part], input); });
    });
  }
  for_each_index<Rows>([&](auto r) {
    const FloatRegister step = broadcast_register(inputs.steps(row + r)[segment]);
    for_each_index<registers>([&](auto part) {
      auto* const product = reinterpret_cast<FloatsInMemory*>(products + r * most_item_outputs +
                                                              part * register_lanes);
      const FloatRegister of_segment =
          to_nearest_floats(sums[r][part]) *
          (step * load_register(weights.steps(output + part / block_registers * lanes, segment) +
                                part % block_registers * register_lanes));
      if (segment == 0) {
        *product = of_segment;
      } else {
        *product = *product + of_segment;
      }
    });
  });
}

/// The same of `count` rows, up to a tile's, any number of blocks, and some segments: all that a
/// block has of them before the next one begins.
template <std::size_t Rows = float32_tile_rows>
inline void whole_tiles(std::size_t count, const WholeInputs& inputs, std::size_t row,
                        const WholeWeights& weights, std::size_t output, std::size_t blocks,
                        std::size_t first, std::size_t end, float* products) {
  if constexpr (Rows > 1) {
    if (count < Rows) {
      return whole_tiles<Rows - 1>(count, inputs, row, weights, output, blocks, first, end,
                                   products);
    }
  }
  constexpr std::size_t together = whole_tile_blocks<Rows>;
  std::size_t block = 0;
  for (; block + together <= blocks; block += together) {
    for (std::size_t segment = first; segment < end; ++segment) {
      whole_tile<Rows, together>(inputs, row, weights, output + block * lanes, segment,
                                 products + block * lanes);
    }
  }
  for (; block < blocks; ++block) {
    for (std::size_t segment = first; segment < end; ++segment) {
      whole_tile<Rows, 1>(inputs, row, weights, output + block * lanes, segment,
                          products + block * lanes);
    }
  }
}

/// The products of an item: of several tiles of rows, which are about alike, segment by segment, so
/// that its weights stay near the core for all of them.
inline void whole_products_of_item(const ProductItem& item, const WholeInputs& inputs,
                                   const WholeWeights& weights, ItemProducts& products) {
  const std::size_t tiles = (item.rows + float32_tile_rows - 1) / float32_tile_rows;
  const std::size_t segments = whole_segments(inputs.in);
  if (tiles == 1) {
    return whole_tiles(item.rows, inputs, item.first_row, weights, item.first_output, item.blocks(),
                       0, segments, products.of_row[0]);
  }
  for (std::size_t segment = 0; segment < segments; ++segment) {
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const std::size_t first = item.rows * tile / tiles;
      const std::size_t rows = item.rows * (tile + 1) / tiles - first;
      whole_tiles(rows, inputs, item.first_row + first, weights, item.first_output, item.blocks(),
                  segment, segment + 1, products.of_row[first]);
    }
  }
}

/// Does what Multiply (multiply.hpp) does, with whole numbers.
template <class Finish>
struct WholeMultiply {
  Float32Tiling tiling;
  WholeWeights weights;
  const float* inputs;  // [rows, in]
  float* outputs;       // [rows, out]
  Finish finish;
  float* packed = nullptr;  // the inputs, as WholeInputs

  WholeInputs rows() const { return {inputs, tiling.rows, tiling.in, packed}; }
  void operator()(std::size_t index) const {
    const ProductItem item = tiling.item(index);
    ItemProducts products;
    whole_products_of_item(item, rows(), weights, products);
    for (std::size_t row = 0; row < item.rows; ++row) {
      float* output = outputs + (item.first_row + row) * tiling.out + item.first_output;
      for (std::size_t o = 0; o < item.outputs; ++o) {
        finish(output[o], products.of_row[row][o], item.first_output + o);
      }
    }
  }
};

/// Does what MultiplyGated does, with whole numbers too.
struct WholeMultiplyGated {
  Float32Tiling tiling;
  WholeWeights gate;
  WholeWeights up;
  const float* inputs;      // [rows, in]
  float* gated;             // [rows, out]
  float* packed = nullptr;  // the inputs, as WholeInputs

  WholeInputs rows() const { return {inputs, tiling.rows, tiling.in, packed}; }
  void operator()(std::size_t index) const {
    const ProductItem item = tiling.item(index);
    ItemProducts gates;
    ItemProducts ups;
    whole_products_of_item(item, rows(), gate, gates);
    whole_products_of_item(item, rows(), up, ups);
    for (std::size_t row = 0; row < item.rows; ++row) {
      float* output = gated + (item.first_row + row) * tiling.out + item.first_output;
      float values[most_item_outputs];
      gate_blocks(gates.of_row[row], ups.of_row[row], item.blocks(), values);
      for (std::size_t o = 0; o < item.outputs; ++o) output[o] = values[o];
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
