#pragma once

#include "gpu/transformer/kernels/dot_product.hpp"
#include "gpu/transformer/kernels/host/float32_tiling.hpp"
#include "gpu/transformer/kernels/host/quantised_lanes.hpp"

// Dot products of rows with blocks of outputs. Vectors run across outputs, never along a sum: lane
// l of a block carries output l.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// The products of an item, aligned so that no vector of them lies in two lines of a cache.
struct alignas(64) ItemProducts {
  float of_row[item_rows][item_outputs];
};

/// The inputs of a run for a tile of rows, which lie a line further apart than a run, lest all of
/// them share the same few places of the first-level cache.
struct alignas(64) RunInputs {
  static constexpr std::size_t stride = run_length + 16;
  float values[float32_tile_rows * stride];
};

/// The weights of a run for the blocks of an item, [item_blocks, run_length, lanes].
struct alignas(64) RunWeights {
  float of_block[item_blocks][run_length * lanes];
};

/// Adds the sums of one run to the totals of `Rows` rows.
/// inputs: [Rows, RunInputs::stride]; weights: [count, lanes]; totals: [Rows, item_outputs].
template <std::size_t Rows>
inline void add_run(const float* inputs, const float* weights, std::size_t count, float* totals) {
  FloatLanes<lanes> run[Rows];
  for (auto& sum : run) sum = broadcast<lanes>(0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    const auto weight = load<lanes>(weights + i * lanes);
    for (std::size_t row = 0; row < Rows; ++row) {
      run[row] = fused_multiply_add(broadcast<lanes>(inputs[row * RunInputs::stride + i]), weight,
                                    run[row]);
    }
  }
  for (std::size_t row = 0; row < Rows; ++row) {
    store(load<lanes>(totals + row * item_outputs) + run[row], totals + row * item_outputs);
  }
}

/// add_run for as many rows as there are, at most `Rows`.
template <std::size_t Rows = float32_tile_rows>
inline void add_run_of(std::size_t rows, const float* inputs, const float* weights,
                       std::size_t count, float* totals) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return add_run_of<Rows - 1>(rows, inputs, weights, count, totals);
  }
  add_run<Rows>(inputs, weights, count, totals);
}

/// The floats of the inputs begin .. end - 1 of one block: where they are stored, if they are
/// floats, or in `room`.
inline const float* weights_of_run(const StoredWeights<float>& weights, std::size_t output,
                                   std::size_t begin, std::size_t /*end*/, float* /*room*/) {
  return weights.weights + output * weights.in + begin * lanes;
}
template <class Weights>
inline const float* weights_of_run(const Weights& weights, std::size_t output, std::size_t begin,
                                   std::size_t end, float* room) {
  with_block_reader<1>(weights, output, [&](const auto& reader) {
    reader(begin, end, [&](std::size_t i, const FloatLanes<lanes>& weight) {
      store(weight, room + (i - begin) * lanes);
    });
  });
  return room;
}

/// The products of an item of many rows, run by run: its weights are made floats once, and each
/// tile of rows, its inputs copied to where they are near, adds its sums to the totals.
/// inputs: [item.rows, in].
template <class Weights>
inline void products_by_run(const ProductItem& item, const float* inputs, std::size_t in,
                            const Weights& weights, ItemProducts& products) {
  RunInputs tile_inputs;
  RunWeights room;
  const float* run[item_blocks];
  for (std::size_t row = 0; row < item.rows; ++row) {
    for (float& total : products.of_row[row]) total = 0.0f;
  }
  const std::size_t tiles = (item.rows + float32_tile_rows - 1) / float32_tile_rows;
  for (std::size_t begin = 0; begin < in; begin += run_length) {
    const std::size_t end = begin + run_length < in ? begin + run_length : in;
    for (std::size_t block = 0; block < item.blocks(); ++block) {
      run[block] = weights_of_run(weights, item.first_output + block * lanes, begin, end,
                                  room.of_block[block]);
    }
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      // Tiles of as equal sizes as there are: one of a single row would wait for each sum.
      const std::size_t first = item.rows * tile / tiles;
      const std::size_t rows = item.rows * (tile + 1) / tiles - first;
      for (std::size_t row = 0; row < rows; ++row) {
        memcpy(tile_inputs.values + row * RunInputs::stride, inputs + (first + row) * in + begin,
               (end - begin) * sizeof(float));
      }
      for (std::size_t block = 0; block < item.blocks(); ++block) {
        add_run_of(rows, tile_inputs.values, run[block], end - begin,
                   products.of_row[first] + block * lanes);
      }
    }
  }
}

/// The products of `Rows` rows with `Blocks` blocks of outputs, each weight read as it is stored.
/// inputs: [Rows, in]; products: [Rows, item_outputs].
template <std::size_t Rows, std::size_t Blocks, class Reader>
inline void direct_products(const float* inputs, std::size_t in, const Reader& reader,
                            float* products) {
  using Lanes = FloatLanes<Blocks * lanes>;
  Lanes totals[Rows];
  for (auto& total : totals) total = broadcast<Blocks * lanes>(0.0f);
  for (std::size_t begin = 0; begin < in; begin += run_length) {
    const std::size_t end = begin + run_length < in ? begin + run_length : in;
    Lanes run[Rows];
    for (auto& sum : run) sum = broadcast<Blocks * lanes>(0.0f);
    reader(begin, end, [&](std::size_t i, const Lanes& weight) {
      for (std::size_t row = 0; row < Rows; ++row) {
        run[row] =
            fused_multiply_add(broadcast<Blocks * lanes>(inputs[row * in + i]), weight, run[row]);
      }
    });
    for (std::size_t row = 0; row < Rows; ++row) totals[row] = totals[row] + run[row];
  }
  for (std::size_t row = 0; row < Rows; ++row) store(totals[row], products + row * item_outputs);
}

template <class Weights>
constexpr bool is_quantised = false;
template <>
constexpr bool is_quantised<QuantisedWeights> = true;

/// Most rows that take each weight from where it is stored; for more, it is made a float once.
template <class Weights>
constexpr std::size_t direct_rows = register_lanes == 4     ? 2
                                    : is_quantised<Weights> ? 4
                                    : register_lanes == 8   ? 6
                                                            : 8;

/// Blocks that go side by side, because the sums of few rows and one block would wait for each
/// other. Those of quantised weights need registers for their scales.
template <std::size_t Rows, class Weights>
constexpr std::size_t blocks_side_by_side() {
  constexpr std::size_t chains = Rows * block_registers;
  if (chains * 4 <= 8 && !is_quantised<Weights>) return 4;
  return chains * 2 <= 8 ? 2 : 1;
}

/// As above, for `blocks` blocks of outputs from `output` on.
template <std::size_t Rows, std::size_t Blocks, class Weights>
inline void direct_products_of(const float* inputs, std::size_t in, const Weights& weights,
                               std::size_t output, std::size_t blocks, float* products) {
  std::size_t block = 0;
  while (block < blocks) {
    if constexpr (Blocks > 1) {
      if (blocks - block < Blocks || !are_of_one_type<Blocks>(weights, output + block * lanes)) {
        const std::size_t fewer = blocks - block < Blocks ? blocks - block : Blocks;
        direct_products_of<Rows, Blocks / 2>(inputs, in, weights, output + block * lanes, fewer,
                                             products + block * lanes);
        block += fewer;
        continue;
      }
    }
    with_block_reader<Blocks>(weights, output + block * lanes, [&](const auto& reader) {
      direct_products<Rows, Blocks>(inputs, in, reader, products + block * lanes);
    });
    block += Blocks;
  }
}

/// The products of the rows and outputs of an item. inputs: [rows of all items, in].
template <class Weights, std::size_t Rows = direct_rows<Weights>>
inline void products_of_item(const ProductItem& item, const float* inputs, std::size_t in,
                             const Weights& weights, ItemProducts& products) {
  const float* const first = inputs + item.first_row * in;
  if (item.rows > direct_rows<Weights>) return products_by_run(item, first, in, weights, products);
  if constexpr (Rows > 1) {
    if (item.rows < Rows) {
      return products_of_item<Weights, Rows - 1>(item, inputs, in, weights, products);
    }
  }
  direct_products_of<Rows, blocks_side_by_side<Rows, Weights>()>(
      first, in, weights, item.first_output, item.blocks(), products.of_row[0]);
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
