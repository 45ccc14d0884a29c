#pragma once

#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "gpu/transformer/kernels/host/tensor_core_step.hpp"
#include "gpu/transformer/kernels/host/tensor_core_tiling.hpp"

// Matrix products of the `tensor-core` arithmetic: a lane is an output, as in multiply.hpp.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Steps whose chain begins at 0: segments of 512 inputs.
constexpr std::size_t segment_steps = 32;

/// The products of `Rows` rows with the first `outputs` outputs of a tile.
/// inputs: [Rows, in]; tile: its first fragment; products: [Rows, tile_outputs].
template <std::size_t Rows>
inline void tile_products(const std::uint16_t* inputs, std::size_t in, const std::uint32_t* tile,
                          std::size_t outputs, float (&products)[Rows][tile_outputs]) {
  std::uint32_t live = 0;
  for (std::size_t lane = 0; lane < tile_outputs; ++lane) {
    if (output_of_lane(lane) < outputs) live |= 1U << lane;
  }
  const std::size_t steps = steps_of(in);
  TileSums totals[Rows];
  for (auto& total : totals) total = broadcast<tile_outputs>(0.0f);
  for (std::size_t begin = 0; begin < steps; begin += segment_steps) {
    const std::size_t end = begin + segment_steps < steps ? begin + segment_steps : steps;
    TileSums sums[Rows];
    for (auto& sum : sums) sum = broadcast<tile_outputs>(0.0f);
    for (std::size_t index = begin; index < end; ++index) {
      const std::uint32_t* step = tile + index * fragment_words;
      const TileStep weights(step);
      const std::size_t first = index * step_products;
      for (std::size_t row = 0; row < Rows; ++row) {
        const std::uint16_t* row_inputs = inputs + row * in + first;
        std::uint16_t filled_up[step_products] = {};
        if (first + step_products > in) {
          for (std::size_t i = 0; first + i < in; ++i) filled_up[i] = row_inputs[i];
          row_inputs = filled_up;
        }
        add_step(weights, step, RowStep(row_inputs), row_inputs, live, sums[row]);
      }
    }
    for (std::size_t row = 0; row < Rows; ++row) {
      totals[row] = begin == 0 ? sums[row] : totals[row] + sums[row];
    }
  }
  for (std::size_t row = 0; row < Rows; ++row) {
    float values[tile_outputs];
    store(totals[row], values);
    for (std::size_t lane = 0; lane < tile_outputs; ++lane) {
      products[row][output_of_lane(lane)] = values[lane];
    }
  }
}

/// Where the fragments of a tile begin.
inline std::size_t tile_begin(const TensorCoreTiling& tiling, std::size_t first_output) {
  return first_output / tile_outputs * steps_of(tiling.in) * fragment_words;
}

template <class Finish>
struct TensorCoreMultiply {
  TensorCoreTiling tiling;
  const std::uint32_t* fragments;
  const std::uint16_t* inputs;  // [rows, in]
  float* outputs;               // [rows, out]
  Finish finish;

  void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  void tile(std::size_t first_row, std::size_t first_output) const {
    const std::size_t count = tiling.outputs_from(first_output);
    float products[Rows][tile_outputs];
    tile_products<Rows>(inputs + first_row * tiling.in, tiling.in,
                        fragments + tile_begin(tiling, first_output), count, products);
    for (std::size_t row = 0; row < Rows; ++row) {
      float* output = outputs + (first_row + row) * tiling.out + first_output;
      for (std::size_t o = 0; o < count; ++o) finish(output[o], products[row][o], first_output + o);
    }
  }
};

struct TensorCoreMultiplyGated {
  TensorCoreTiling tiling;
  const std::uint32_t* gate;    // fragments
  const std::uint32_t* up;      // fragments
  const std::uint16_t* inputs;  // [rows, in]
  std::uint16_t* gated;         // [rows, out]

  void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  void tile(std::size_t first_row, std::size_t first_output) const {
    const std::size_t count = tiling.outputs_from(first_output);
    const std::uint16_t* rows = inputs + first_row * tiling.in;
    const std::size_t begin = tile_begin(tiling, first_output);
    float gates[Rows][tile_outputs];
    float ups[Rows][tile_outputs];
    tile_products<Rows>(rows, tiling.in, gate + begin, count, gates);
    tile_products<Rows>(rows, tiling.in, up + begin, count, ups);
    for (std::size_t row = 0; row < Rows; ++row) {
      std::uint16_t* output = gated + (first_row + row) * tiling.out + first_output;
      for (std::size_t o = 0; o < count; ++o) {
        const float g = gates[row][o];
        output[o] = to_bfloat16(g / (1.0f + float32_exponential(-g)) * ups[row][o]);
      }
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
