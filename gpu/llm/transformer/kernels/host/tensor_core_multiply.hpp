#pragma once

#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "gpu/llm/transformer/kernels/host/tensor_core_tiling.hpp"
#include "gpu/llm/transformer/kernels/host/tensor_core_weights.hpp"

// Matrix products of the arithmetics of tensor cores: a lane is an output, as in multiply.hpp.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Adds the sums of a segment to the totals of `Rows` rows, or makes them the totals.
/// inputs: [Rows, in], from the first of the segment on; steps: of one tile, `inputs_left` inputs
/// and at most 32 steps; live: the lanes that have an output; totals: [Rows, lanes].
template <std::size_t Rows, class Order, class Step>
inline void add_segment(const std::uint16_t* inputs, std::size_t in, const std::uint32_t* steps,
                        std::size_t inputs_left, std::uint32_t live, bool is_first,
                        float (*totals)[fragment_outputs]) {
  TileSums sums[Rows];
  for (auto& sum : sums) sum = broadcast<fragment_outputs>(0.0f);
  const std::size_t end =
      inputs_left < segment_steps * step_products ? steps_of(inputs_left) : segment_steps;
  for (std::size_t index = 0; index < end; ++index) {
    const std::uint32_t* step = steps + index * fragment_words;
    const TileStep weights(step, Order());
    const std::size_t first = index * step_products;
    for (std::size_t row = 0; row < Rows; ++row) {
      const std::uint16_t* row_inputs = inputs + row * in + first;
      std::uint16_t filled_up[step_products] = {};
      if (first + step_products > inputs_left) {
        for (std::size_t i = 0; first + i < inputs_left; ++i) filled_up[i] = row_inputs[i];
        row_inputs = filled_up;
      }
      add_step<Order, Step>(weights, step, RowStep(row_inputs), row_inputs, live, sums[row]);
    }
  }
  for (std::size_t row = 0; row < Rows; ++row) {
    store(is_first ? sums[row] : load<fragment_outputs>(totals[row]) + sums[row], totals[row]);
  }
}

/// add_segment for as many rows as there are, at most `Rows`.
template <class Order, class Step, std::size_t Rows = tile_rows>
inline void add_segment_of(std::size_t rows, const std::uint16_t* inputs, std::size_t in,
                           const std::uint32_t* steps, std::size_t inputs_left, std::uint32_t live,
                           bool is_first, float (*totals)[fragment_outputs]) {
  if constexpr (Rows > 1) {
    if (rows < Rows) {
      return add_segment_of<Order, Step, Rows - 1>(rows, inputs, in, steps, inputs_left, live,
                                                   is_first, totals);
    }
  }
  add_segment<Rows, Order, Step>(inputs, in, steps, inputs_left, live, is_first, totals);
}

/// The products of the rows and outputs of an item, by lanes of Weights::Order.
template <class Weights>
struct TileProducts {
  using Order = typename Weights::Order;
  alignas(64) float of_row[Weights::item_rows][fragment_outputs];

  /// inputs: [rows of all items, in].
  TileProducts(const TensorCoreItem& item, const std::uint16_t* inputs, std::size_t in,
               const Weights& weights) {
    SegmentRoom room;
    std::uint32_t live = 0;
    for (std::size_t lane = 0; lane < fragment_outputs; ++lane) {
      if (Order::output_of_lane(lane) < item.outputs) live |= 1U << lane;
    }
    const std::size_t steps = steps_of(in);
    for (std::size_t begin = 0; begin < steps; begin += segment_steps) {
      const std::size_t end = begin + segment_steps < steps ? begin + segment_steps : steps;
      const std::uint32_t* const segment = weights.segment(item.first_output, begin, end, room);
      const std::size_t first_input = begin * step_products;
      for (std::size_t row = 0; row < item.rows; row += tile_rows) {
        const std::size_t rows = item.rows - row < tile_rows ? item.rows - row : tile_rows;
        add_segment_of<Order, typename Weights::Step>(
            rows, inputs + (item.first_row + row) * in + first_input, in, segment, in - first_input,
            live, begin == 0, of_row + row);
      }
    }
  }
  float operator()(std::size_t row, std::size_t output) const {
    return of_row[row][Order::lane_of_output(output)];
  }
};

/// Does what Multiply (multiply.hpp) does, with bfloat16 inputs and in the steps of a tensor core.
template <class Weights, class Finish>
struct TensorCoreMultiply {
  TensorCoreTiling<Weights::item_rows> tiling;
  Weights weights;
  const std::uint16_t* inputs;  // [rows, in]
  float* outputs;               // [rows, out]
  Finish finish;

  void operator()(std::size_t index) const {
    const TensorCoreItem item = tiling.item(index);
    const TileProducts<Weights> products(item, inputs, tiling.in, weights);
    for (std::size_t row = 0; row < item.rows; ++row) {
      float* output = outputs + (item.first_row + row) * tiling.out + item.first_output;
      for (std::size_t o = 0; o < item.outputs; ++o) {
        finish(output[o], products(row, o), item.first_output + o);
      }
    }
  }
};

/// Does what MultiplyGated does, in these steps too.
template <class Weights>
struct TensorCoreMultiplyGated {
  TensorCoreTiling<Weights::item_rows> tiling;
  Weights gate;
  Weights up;
  const std::uint16_t* inputs;  // [rows, in]
  std::uint16_t* gated;         // [rows, out]

  void operator()(std::size_t index) const {
    const TensorCoreItem item = tiling.item(index);
    const TileProducts<Weights> gates(item, inputs, tiling.in, gate);
    const TileProducts<Weights> ups(item, inputs, tiling.in, up);
    for (std::size_t row = 0; row < item.rows; ++row) {
      std::uint16_t* output = gated + (item.first_row + row) * tiling.out + item.first_output;
      for (std::size_t o = 0; o < item.outputs; ++o) {
        const float g = gates(row, o);
        output[o] = to_bfloat16(g / (1.0f + float32_exponential(-g)) * ups(row, o));
      }
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
