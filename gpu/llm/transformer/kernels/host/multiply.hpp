#pragma once

#include "gpu/llm/transformer/kernels/host/dot_products.hpp"
#include "gpu/llm/transformer/kernels/host/exponential_lanes.hpp"

// Matrix products of `float32` and what becomes of their results.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// finish(y[r, o], W x_r, o) for every row r and output o of a matrix W; an item is as
/// Float32Tiling cuts it.
template <class Weights, class Finish>
struct Multiply {
  Float32Tiling tiling;
  Weights weights;
  const float* inputs;  // [rows, in]
  float* outputs;       // [rows, out]
  Finish finish;
  const float* packed = nullptr;  // the inputs, as PackedInputs

  void operator()(std::size_t index) const {
    const ProductItem item = tiling.item(index);
    ItemProducts products;
    products_of_item(item, tiling, inputs, packed, weights, products);
    for (std::size_t row = 0; row < item.rows; ++row) {
      float* output = outputs + (item.first_row + row) * tiling.out + item.first_output;
      for (std::size_t o = 0; o < item.outputs; ++o) {
        finish(output[o], products.of_row[row][o], item.first_output + o);
      }
    }
  }
};

/// silu(G x_r) · (U x_r) for every row r, element by element, silu(g) = g/(1 + e^-g).
template <class Weights>
struct MultiplyGated {
  Float32Tiling tiling;
  Weights gate;
  Weights up;
  const float* inputs;            // [rows, in]
  float* gated;                   // [rows, out]
  const float* packed = nullptr;  // the inputs, as PackedInputs

  void operator()(std::size_t index) const {
    const ProductItem item = tiling.item(index);
    ItemProducts gates;
    ItemProducts ups;
    products_of_item(item, tiling, inputs, packed, gate, gates);
    products_of_item(item, tiling, inputs, packed, up, ups);
    for (std::size_t row = 0; row < item.rows; ++row) {
      float* output = gated + (item.first_row + row) * tiling.out + item.first_output;
      float values[most_item_outputs];
      gate_blocks(gates.of_row[row], ups.of_row[row], item.blocks(), values);
      for (std::size_t o = 0; o < item.outputs; ++o) output[o] = values[o];
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
