#pragma once

#include "gpu/llm/transformer/kernels/host/run_products.hpp"

// Dot products of rows with blocks of outputs: of few rows here, of many run by run.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

template <class Weights>
constexpr bool is_quantised = false;
template <>
constexpr bool is_quantised<QuantisedWeights> = true;

/// The products of `Rows` rows with `Blocks` blocks of outputs, each weight read as it is stored.
/// Quantised ones take long to become floats: those of the next item are asked for meanwhile.
/// inputs: [Rows, in]; before: inputs of this item that other blocks have had; products: [Rows,
/// most_item_outputs].
template <std::size_t Rows, std::size_t Blocks, bool Ahead, class Reader>
inline void direct_products(const float* inputs, std::size_t in, const Reader& reader,
                            const WeightsAhead& next, std::size_t before, float* products) {
  using Lanes = FloatLanes<Blocks * lanes>;
  Lanes totals[Rows];
  for (auto& total : totals) total = broadcast<Blocks * lanes>(0.0f);
  for (std::size_t begin = 0; begin < in; begin += run_length) {
    const std::size_t end = begin + run_length < in ? begin + run_length : in;
    Lanes run[Rows];
    for (auto& sum : run) sum = broadcast<Blocks * lanes>(0.0f);
    const std::byte* const ahead =
        next.after(before + begin * Blocks, reinterpret_cast<const std::byte*>(inputs));
    reader(begin, end, [&](std::size_t i, const Lanes& weight) {
      if constexpr (Ahead) {
        if (i % (4 / Blocks) == 0) __builtin_prefetch(ahead + (i - begin) * 16 * Blocks, 0, 2);
      } else {
        constexpr std::size_t bytes = packed_layout(Reader::type).bytes;
        if (i % (64 / bytes) == 0) {
          for (const std::byte* const block : reader.blocks.of_block) {
            __builtin_prefetch(block + i * bytes + stream_ahead, 0, 2);
          }
        }
      }
      for (std::size_t row = 0; row < Rows; ++row) {
        run[row] =
            fused_multiply_add(broadcast<Blocks * lanes>(inputs[row * in + i]), weight, run[row]);
      }
    });
    for (std::size_t row = 0; row < Rows; ++row) totals[row] = totals[row] + run[row];
  }
  for (std::size_t row = 0; row < Rows; ++row)
    store(totals[row], products + row * most_item_outputs);
}

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

/// Does the same for `blocks` blocks of outputs from `output` on.
template <std::size_t Rows, std::size_t Blocks, class Weights>
inline void direct_products_of(const float* inputs, std::size_t in, const Weights& weights,
                               std::size_t output, std::size_t blocks, const WeightsAhead& next,
                               std::size_t before, float* products) {
  std::size_t block = 0;
  while (block < blocks) {
    if constexpr (Blocks > 1) {
      if (blocks - block < Blocks || !are_of_one_type<Blocks>(weights, output + block * lanes)) {
        const std::size_t fewer = blocks - block < Blocks ? blocks - block : Blocks;
        direct_products_of<Rows, Blocks / 2>(inputs, in, weights, output + block * lanes, fewer,
                                             next, before + block * in, products + block * lanes);
        block += fewer;
        continue;
      }
    }
    with_block_reader<Blocks>(weights, output + block * lanes, [&](const auto& reader) {
      direct_products<Rows, Blocks, is_quantised<Weights>>(
          inputs, in, reader, next, before + block * in, products + block * lanes);
    });
    block += Blocks;
  }
}

/// The products of the rows and outputs of an item. inputs: [rows of all items, in]; packed: if
/// an item has more than direct_rows rows.
template <class Weights, std::size_t Rows = direct_rows<Weights>>
inline void products_of_item(const ProductItem& item, const Float32Tiling& tiling,
                             const float* inputs, const float* packed, const Weights& weights,
                             ItemProducts& products) {
  if (item.rows > direct_rows<Weights>) {
    return products_by_run(item, tiling, packed, weights, products);
  }
  if constexpr (Rows > 1) {
    if (item.rows < Rows) {
      return products_of_item<Weights, Rows - 1>(item, tiling, inputs, packed, weights, products);
    }
  }
  direct_products_of<Rows, blocks_side_by_side<Rows, Weights>()>(
      inputs + item.first_row * tiling.in, tiling.in, weights, item.first_output, item.blocks(),
      WeightsAhead::of(item, tiling, weights), 0, products.of_row[0]);
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
