#pragma once

#include "gpu/transformer/kernels/dot_product.hpp"
#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "gpu/transformer/kernels/host/float_lanes.hpp"
#include "gpu/transformer/kernels/host/tiling.hpp"
#include "gpu/transformer/weights/matrix_view.hpp"

// Matrix products whose vectors run across outputs, never along a sum: lane l of a block carries
// output l, and each output keeps its own order of summation.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

using OutputLanes = FloatLanes<lanes>;

/// The dot products of `Rows` rows with the outputs of a block.
/// inputs: [Rows, in]; weights: [in, lanes]; products: [Rows, lanes].
template <std::size_t Rows, class Weight>
inline void dot_products(const float* inputs, std::size_t in, const Weight* weights,
                         float (&products)[Rows][lanes]) {
  OutputLanes totals[Rows];
  for (auto& total : totals) total = broadcast<lanes>(0.0f);
  for (std::size_t begin = 0; begin < in; begin += run_length) {
    const std::size_t end = begin + run_length < in ? begin + run_length : in;
    OutputLanes run[Rows];
    for (auto& sum : run) sum = broadcast<lanes>(0.0f);
    for (std::size_t i = begin; i < end; ++i) {
      const OutputLanes weight = load<lanes>(weights + i * lanes);
      for (std::size_t row = 0; row < Rows; ++row) {
        run[row] = fused_multiply_add(broadcast<lanes>(inputs[row * in + i]), weight, run[row]);
      }
    }
    for (std::size_t row = 0; row < Rows; ++row) totals[row] = totals[row] + run[row];
  }
  for (std::size_t row = 0; row < Rows; ++row) store(totals[row], products[row]);
}

template <class Weight, class Finish>
struct Multiply {
  Tiling tiling;
  const Weight* weights;  // packed [out / lanes, in, lanes]
  const float* inputs;    // [rows, in]
  float* outputs;         // [rows, out]

  void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  void tile(std::size_t first_row, std::size_t first_output) const {
    float products[Rows][lanes];
    dot_products<Rows>(inputs + first_row * tiling.in, tiling.in,
                       weights + first_output * tiling.in, products);
    const std::size_t count = tiling.outputs_from(first_output);
    for (std::size_t row = 0; row < Rows; ++row) {
      float* output = outputs + (first_row + row) * tiling.out + first_output;
      for (std::size_t lane = 0; lane < count; ++lane) Finish()(output[lane], products[row][lane]);
    }
  }
};

template <class Weight>
struct MultiplyGated {
  Tiling tiling;
  const Weight* gate;   // packed [out / lanes, in, lanes]
  const Weight* up;     // packed [out / lanes, in, lanes]
  const float* inputs;  // [rows, in]
  float* gated;         // [rows, out]

  void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  void tile(std::size_t first_row, std::size_t first_output) const {
    const float* rows = inputs + first_row * tiling.in;
    const std::size_t offset = first_output * tiling.in;
    float gates[Rows][lanes];
    float ups[Rows][lanes];
    dot_products<Rows>(rows, tiling.in, gate + offset, gates);
    dot_products<Rows>(rows, tiling.in, up + offset, ups);
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
