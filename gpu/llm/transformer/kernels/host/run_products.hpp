#pragma once

#include <type_traits>
#include <utility>

#include "gpu/llm/transformer/kernels/dot_product.hpp"
#include "gpu/llm/transformer/kernels/host/float32_tiling.hpp"
#include "gpu/llm/transformer/kernels/host/quantised_lanes.hpp"

// Dot products of many rows with blocks of outputs, run by run: the weights of a run are made
// floats once and then serve all rows of an item. Vectors run across outputs, never along a sum:
// lane l of a block carries output l.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// The products of an item, aligned so that no vector of them is in two lines of a cache.
struct alignas(64) ItemProducts {
  float of_row[item_rows][most_item_outputs];
};

/// The inputs of a product, run by run: [runs, rows, stride], the last run of a row filled up. Rows
/// are a line further apart than a run is long: those of a tile must not share the same places of
/// the first-level cache.
struct PackedInputs {
  static constexpr std::size_t stride = run_length + 16;

  const float* values;
  std::size_t rows;

  static std::size_t floats(std::size_t rows, std::size_t in) {
    return (in + run_length - 1) / run_length * rows * stride;
  }
  /// The inputs of a run that begins at `begin`, from a row on.
  const float* run(std::size_t begin, std::size_t row) const {
    return values + (begin / run_length * rows + row) * stride;
  }
};

/// Packs inputs; an item is a row.
struct PackInputs {
  const float* inputs;  // [rows, in]
  std::size_t rows;
  std::size_t in;
  float* values;

  void operator()(std::size_t row) const {
    for (std::size_t begin = 0; begin < in; begin += run_length) {
      memcpy(values + (begin / run_length * rows + row) * PackedInputs::stride,
             inputs + row * in + begin,
             (in - begin < run_length ? in - begin : run_length) * sizeof(float));
    }
  }
};

/// The weights of a run for the blocks of an item, [most_item_blocks, run_length, lanes].
struct alignas(64) RunWeights {
  float of_block[most_item_blocks][run_length * lanes];
};

/// Weights of a run that are floats: those of input i, in a register of the tile's outputs.
struct FloatRun {
  const float* const* of_block;  // [Blocks] of [inputs, lanes]

  FloatRegister operator()(std::size_t i, std::size_t part) const {
    return load_register(of_block[part / block_registers] + i * lanes +
                         part % block_registers * register_lanes);
  }
};

/// A run of bfloat16s. The first tile makes them floats among its sums and leaves them for the
/// others, because a loop of its own would wait for what it reads and writes.
struct Bfloat16Run {
  const std::uint16_t* stored[tile_blocks];  // [inputs, lanes]
  float* floats[tile_blocks];                // [inputs, lanes]

  FloatRegister operator()(std::size_t i, std::size_t part) const {
    const std::size_t offset = i * lanes + part % block_registers * register_lanes;
    const FloatRegister weight = load_register(stored[part / block_registers] + offset);
    *reinterpret_cast<FloatsInMemory*>(floats[part / block_registers] + offset) = weight;
    return weight;
  }
};

/// Bytes that a weight is asked for before it is used, by few rows with weights that are not
/// quantised: a processor asks for too little of a stream by itself. What follows a block in memory
/// is the next one; after the last there may be nothing, which does no harm.
constexpr std::size_t stream_ahead = 4096;

/// Inputs that one turn of a tile's loop takes: the loop's own instructions would otherwise have a
/// tenth of the units that multiply and add. If registers are few they would spill.
constexpr int inputs_together = register_lanes == 16 ? 4 : 1;

/// Calls work(0), .. work(Count - 1), each number a constant. In a loop over its places an array is
/// not always kept in registers.
template <std::size_t Count, class Work>
[[gnu::always_inline]] inline void for_each_index(const Work& work) {
  [&]<std::size_t... Index>(std::index_sequence<Index...>) __attribute__((always_inline)) {
    (work(std::integral_constant<std::size_t, Index>{}), ...);
  }
  (std::make_index_sequence<Count>{});
}

/// Adds the sums of one run to the totals of `Rows` rows and `Blocks` blocks. With each input it
/// asks for a quarter of a line of memory from `ahead` on, which comes meanwhile. inputs: [Rows,
/// PackedInputs::stride]; totals: [Rows, most_item_outputs].
template <std::size_t Rows, std::size_t Blocks, class Run>
inline void add_run(const float* inputs, const Run& weights, std::size_t count,
                    const std::byte* ahead, float* totals) {
  constexpr std::size_t registers = Blocks * block_registers;
  FloatRegister run[Rows][registers];
  for_each_index<Rows>([&](auto row) {
    for_each_index<registers>([&](auto part) { run[row][part] = broadcast_register(0.0f); });
  });
#pragma GCC unroll inputs_together
  for (std::size_t i = 0; i < count; ++i) {
    __builtin_prefetch(ahead + i * 16, 0, 2);
    FloatRegister weight[registers];
    for_each_index<registers>([&](auto part) { weight[part] = weights(i, part); });
    for_each_index<Rows>([&](auto row) {
      const FloatRegister input = broadcast_register(inputs[row * PackedInputs::stride + i]);
      for_each_index<registers>([&](auto part) {
        run[row][part] = fused_multiply_add_register(input, weight[part], run[row][part]);
      });
    });
  }
  for_each_index<Rows>([&](auto row) {
    for_each_index<registers>([&](auto part) {
      float* const total = totals + row * most_item_outputs + part * register_lanes;
      *reinterpret_cast<FloatsInMemory*>(total) = load_register(total) + run[row][part];
    });
  });
}

/// add_run for as many rows as there are, at most `Rows`.
template <std::size_t Blocks, std::size_t Rows = float32_tile_rows, class Run>
inline void add_run_of(std::size_t rows, const float* inputs, const Run& weights, std::size_t count,
                       const std::byte* ahead, float* totals) {
  if constexpr (Rows > 1) {
    if (rows < Rows) {
      return add_run_of<Blocks, Rows - 1>(rows, inputs, weights, count, ahead, totals);
    }
  }
  add_run<Rows, Blocks>(inputs, weights, count, ahead, totals);
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

/// The weights of the next item, which is likely to be this thread's next: asked for while this one
/// is computed, a part with each tile of each run.
struct WeightsAhead {
  const std::byte* begin;
  std::size_t bytes;

  template <class Weights>
  static WeightsAhead of(const ProductItem& item, const Float32Tiling& tiling,
                         const Weights& weights) {
    const std::size_t output = item.first_output + item.outputs;
    const std::size_t left = tiling.out - output;
    if (left == 0) return {nullptr, 0};
    const std::size_t outputs = left < item.outputs ? left : item.outputs;
    return {stored_inputs(weights, output, 0),
            bytes_of_inputs(weights, output, tiling.in) * ((outputs + lanes - 1) / lanes)};
  }
  /// From where on, after lines have been asked for with so many inputs; `near`, which is there
  /// already, when all have been.
  const std::byte* after(std::size_t inputs, const std::byte* near) const {
    const std::size_t asked = inputs / 4 * 64;
    return asked < bytes ? begin + asked : near;
  }
};

/// The products of an item, run by run.
template <class Weights>
inline void products_by_run(const ProductItem& item, const Float32Tiling& tiling,
                            const float* packed, const Weights& weights, ItemProducts& products) {
  constexpr bool bfloat16 = std::is_same_v<Weights, StoredWeights<std::uint16_t>>;
  const PackedInputs inputs{packed, tiling.rows};
  const std::size_t in = tiling.in;
  const auto next = WeightsAhead::of(item, tiling, weights);
  // Blocks that fill tiles.
  const std::size_t tiled = item.blocks() / tile_blocks * tile_blocks;
  RunWeights room;
  const float* run[most_item_blocks];
  for (std::size_t row = 0; row < item.rows; ++row) {
    for (std::size_t o = 0; o < item.blocks() * lanes; ++o) products.of_row[row][o] = 0.0f;
  }
  const std::size_t tiles = (item.rows + float32_tile_rows - 1) / float32_tile_rows;
  for (std::size_t begin = 0; begin < in; begin += run_length) {
    const std::size_t end = begin + run_length < in ? begin + run_length : in;
    for (std::size_t block = 0; block < item.blocks(); ++block) {
      run[block] = bfloat16 && block < tiled
                       ? room.of_block[block]
                       : weights_of_run(weights, item.first_output + block * lanes, begin, end,
                                        room.of_block[block]);
    }
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      // Tiles of as equal sizes as there are: one of a single row would wait for each sum.
      const std::size_t first = item.rows * tile / tiles;
      const std::size_t rows = item.rows * (tile + 1) / tiles - first;
      const float* const tile_inputs = inputs.run(begin, item.first_row + first);
      const auto* const near = reinterpret_cast<const std::byte*>(tile_inputs);
      for (std::size_t block = 0; block < tiled; block += tile_blocks) {
        const auto* const ahead =
            block == 0 ? next.after(begin * tiles + tile * (end - begin), near) : near;
        float* const totals = products.of_row[first] + block * lanes;
        if constexpr (bfloat16) {
          if (tile == 0) {
            Bfloat16Run made;
            for (std::size_t i = 0; i < tile_blocks; ++i) {
              made.stored[i] = weights.weights +
                               (item.first_output + (block + i) * lanes) * weights.in +
                               begin * lanes;
              made.floats[i] = room.of_block[block + i];
            }
            add_run_of<tile_blocks>(rows, tile_inputs, made, end - begin, ahead, totals);
            continue;
          }
        }
        add_run_of<tile_blocks>(rows, tile_inputs, FloatRun{run + block}, end - begin, ahead,
                                totals);
      }
      for (std::size_t block = tiled; block < item.blocks(); ++block) {
        add_run_of<1>(rows, tile_inputs, FloatRun{run + block}, end - begin, near,
                      products.of_row[first] + block * lanes);
      }
    }
  }
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
