#pragma once

#include "gpu/transformer/kernels/dot_product.hpp"
#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "gpu/transformer/kernels/host/float_lanes.hpp"
#include "gpu/transformer/kernels/host/quantised_lanes.hpp"
#include "gpu/transformer/kernels/host/tiling.hpp"
#include "gpu/transformer/weights/weight_reader.hpp"

// Matrix products whose vectors run across outputs, never along a sum: lane l of a block carries
// output l, and each output keeps its own order of summation.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

using OutputLanes = FloatLanes<lanes>;

/// The dot products of `Rows` rows with the outputs of a block. `add_inputs(begin, end, add)` calls
/// add(i, the weights of input i) for the inputs of a run, in order.
/// inputs: [Rows, in]; products: [Rows, lanes].
template <std::size_t Rows, class AddInputs>
inline void dot_products_by_run(const float* inputs, std::size_t in, const AddInputs& add_inputs,
                                float (&products)[Rows][lanes]) {
  OutputLanes totals[Rows];
  for (auto& total : totals) total = broadcast<lanes>(0.0f);
  for (std::size_t begin = 0; begin < in; begin += run_length) {
    const std::size_t end = begin + run_length < in ? begin + run_length : in;
    OutputLanes run[Rows];
    for (auto& sum : run) sum = broadcast<lanes>(0.0f);
    add_inputs(begin, end, [&](std::size_t i, const OutputLanes& weight) {
      for (std::size_t row = 0; row < Rows; ++row) {
        run[row] = fused_multiply_add(broadcast<lanes>(inputs[row * in + i]), weight, run[row]);
      }
    });
    for (std::size_t row = 0; row < Rows; ++row) totals[row] = totals[row] + run[row];
  }
  for (std::size_t row = 0; row < Rows; ++row) store(totals[row], products[row]);
}

/// As above, of the block of outputs from `first_output` on.
template <std::size_t Rows, class Stored>
inline void dot_products(const float* inputs, std::size_t in, const StoredWeights<Stored>& weights,
                         std::size_t first_output, float (&products)[Rows][lanes]) {
  const Stored* const block = weights.weights + first_output * in;
  dot_products_by_run<Rows>(
      inputs, in,
      [&](std::size_t begin, std::size_t end, const auto& add) {
        for (std::size_t i = begin; i < end; ++i) add(i, load<lanes>(block + i * lanes));
      },
      products);
}

template <std::size_t Rows>
inline void dot_products(const float* inputs, std::size_t in, const QuantisedWeights& weights,
                         std::size_t first_output, float (&products)[Rows][lanes]) {
  const std::uint64_t block = weights.blocks[first_output / lanes];
  with_block_reader(packing_of(block), weights.bytes + begin_of(block), [&](const auto& reader) {
    dot_products_by_run<Rows>(inputs, in, reader, products);
  });
}

template <class Weights, class Finish>
struct Multiply {
  Tiling tiling;
  Weights weights;
  const float* inputs;  // [rows, in]
  float* outputs;       // [rows, out]
  Finish finish;

  void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  void tile(std::size_t first_row, std::size_t first_output) const {
    float products[Rows][lanes];
    dot_products<Rows>(inputs + first_row * tiling.in, tiling.in, weights, first_output, products);
    const std::size_t count = tiling.outputs_from(first_output);
    for (std::size_t row = 0; row < Rows; ++row) {
      float* output = outputs + (first_row + row) * tiling.out + first_output;
      for (std::size_t lane = 0; lane < count; ++lane) {
        finish(output[lane], products[row][lane], first_output + lane);
      }
    }
  }
};

template <class Weights>
struct MultiplyGated {
  Tiling tiling;
  Weights gate;
  Weights up;
  const float* inputs;  // [rows, in]
  float* gated;         // [rows, out]

  void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  void tile(std::size_t first_row, std::size_t first_output) const {
    const float* rows = inputs + first_row * tiling.in;
    float gates[Rows][lanes];
    float ups[Rows][lanes];
    dot_products<Rows>(rows, tiling.in, gate, first_output, gates);
    dot_products<Rows>(rows, tiling.in, up, first_output, ups);
    const std::size_t count = tiling.outputs_from(first_output);
    for (std::size_t row = 0; row < Rows; ++row) {
      float* output = gated + (first_row + row) * tiling.out + first_output;
      float values[lanes];
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const float g = gates[row][lane];
        values[lane] = g / (1.0f + float32_exponential(-g)) * ups[row][lane];
      }
      for (std::size_t lane = 0; lane < count; ++lane) output[lane] = values[lane];
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
