#pragma once

#include "gpu/llm/transformer/kernels/dot_product.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "gpu/llm/transformer/weights/weight_reader.hpp"

// Matrix products as loops over single floats.

namespace tempera::gpu::readable {

/// Rows that share each read of a weight.
constexpr std::size_t tile_rows = 8;

/// products[row] = Σ_i inputs[row, i] · weights(output, i) for row < Rows. inputs: [Rows, in].
template <std::size_t Rows, class Weights>
TEMPERA_HOST_DEVICE inline void dot_products(const float* inputs, std::size_t in,
                                             const Weights& weights, std::size_t output,
                                             float (&products)[Rows]) {
  for (auto& product : products) product = 0.0f;
  for (std::size_t begin = 0; begin < in; begin += run_length) {
    const std::size_t end = begin + run_length < in ? begin + run_length : in;
    float run[Rows] = {};
    for (std::size_t i = begin; i < end; ++i) {
      const float weight = weights(output, i);
      for (std::size_t row = 0; row < Rows; ++row) {
        run[row] = fused_multiply_add(inputs[row * in + i], weight, run[row]);
      }
    }
    for (std::size_t row = 0; row < Rows; ++row) products[row] += run[row];
  }
}

/// What becomes of the dot product of output o.
struct Store {
  TEMPERA_HOST_DEVICE void operator()(float& output, float product, std::size_t /*o*/) const {
    output = product;
  }
};
struct StoreWithBias {
  const float* bias;  // [out]
  TEMPERA_HOST_DEVICE void operator()(float& output, float product, std::size_t o) const {
    output = product + bias[o];
  }
};
struct Add {
  TEMPERA_HOST_DEVICE void operator()(float& output, float product, std::size_t /*o*/) const {
    output += product;
  }
};

/// An item is one output of a tile of rows; the tiles are innermost, so that neighbouring items
/// read the same weights.
struct Tiling {
  std::size_t rows;
  std::size_t in;
  std::size_t out;

  std::size_t items() const { return row_tiles() * out; }
  TEMPERA_HOST_DEVICE std::size_t row_tiles() const { return (rows + tile_rows - 1) / tile_rows; }
  TEMPERA_HOST_DEVICE std::size_t first_row(std::size_t item) const {
    return item % row_tiles() * tile_rows;
  }
  TEMPERA_HOST_DEVICE std::size_t output(std::size_t item) const { return item / row_tiles(); }
};

/// Calls kernel.template tile<Rows>(first row, output) for the tile of an item, Rows being the
/// number of rows that it has.
template <class Kernel, std::size_t Rows = tile_rows>
TEMPERA_HOST_DEVICE inline void run_tile(const Kernel& kernel, std::size_t item) {
  const std::size_t first_row = kernel.tiling.first_row(item);
  if constexpr (Rows > 1) {
    if (kernel.tiling.rows - first_row < Rows) return run_tile<Kernel, Rows - 1>(kernel, item);
  }
  kernel.template tile<Rows>(first_row, kernel.tiling.output(item));
}

template <class Weights, class Finish>
struct Multiply {
  Tiling tiling;
  Weights weights;
  const float* inputs;  // [rows, in]
  float* outputs;       // [rows, out]
  Finish finish;

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  TEMPERA_HOST_DEVICE void tile(std::size_t first_row, std::size_t output) const {
    float products[Rows];
    dot_products<Rows>(inputs + first_row * tiling.in, tiling.in, weights, output, products);
    for (std::size_t row = 0; row < Rows; ++row) {
      finish(outputs[(first_row + row) * tiling.out + output], products[row], output);
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

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  TEMPERA_HOST_DEVICE void tile(std::size_t first_row, std::size_t output) const {
    const float* rows = inputs + first_row * tiling.in;
    float gates[Rows];
    float ups[Rows];
    dot_products<Rows>(rows, tiling.in, gate, output, gates);
    dot_products<Rows>(rows, tiling.in, up, output, ups);
    for (std::size_t row = 0; row < Rows; ++row) {
      const float silu = gates[row] / (1.0f + float32_exponential(-gates[row]));
      gated[(first_row + row) * tiling.out + output] = silu * ups[row];
    }
  }
};

}  // namespace tempera::gpu::readable
