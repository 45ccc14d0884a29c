#include "gpu/device/launch.cuh"
#include "gpu/transformer/kernels/dot_product.hpp"
#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "gpu/transformer/kernels/thrust/thrust_kernels.hpp"
#include "gpu/transformer/weights/weight_value.hpp"

namespace tempera::gpu {

namespace {

/// Rows that share each read of a weight.
constexpr std::size_t tile_rows = 8;

/// products[row] = Σ_i inputs[row, i] · weights[i · lanes] for row < Rows. inputs: [Rows, in].
template <std::size_t Rows, class Weight>
TEMPERA_HOST_DEVICE inline void dot_products(const float* inputs, std::size_t in,
                                             const Weight* weights, float (&products)[Rows]) {
  for (auto& product : products) product = 0.0f;
  for (std::size_t begin = 0; begin < in; begin += run_length) {
    const std::size_t end = begin + run_length < in ? begin + run_length : in;
    float run[Rows] = {};
    for (std::size_t i = begin; i < end; ++i) {
      const float weight = weight_value(weights[i * lanes]);
      for (std::size_t row = 0; row < Rows; ++row) {
        run[row] = fused_multiply_add(inputs[row * in + i], weight, run[row]);
      }
    }
    for (std::size_t row = 0; row < Rows; ++row) products[row] += run[row];
  }
}

/// What becomes of a dot product.
struct Store {
  TEMPERA_HOST_DEVICE void operator()(float& output, float product) const { output = product; }
};
struct Add {
  TEMPERA_HOST_DEVICE void operator()(float& output, float product) const { output += product; }
};

/// An item is one output of a tile of rows; the tiles lie innermost, so that neighbouring items
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
  /// Offset of the weights of an output in a packed matrix.
  TEMPERA_HOST_DEVICE std::size_t weight_offset(std::size_t output) const {
    return output / lanes * in * lanes + output % lanes;
  }
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

template <class Weight, class Finish>
struct Multiply {
  Tiling tiling;
  const Weight* weights;  // packed [out / lanes, in, lanes]
  const float* inputs;    // [rows, in]
  float* outputs;         // [rows, out]

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  TEMPERA_HOST_DEVICE void tile(std::size_t first_row, std::size_t output) const {
    float products[Rows];
    dot_products<Rows>(inputs + first_row * tiling.in, tiling.in,
                       weights + tiling.weight_offset(output), products);
    for (std::size_t row = 0; row < Rows; ++row) {
      Finish()(outputs[(first_row + row) * tiling.out + output], products[row]);
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

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  TEMPERA_HOST_DEVICE void tile(std::size_t first_row, std::size_t output) const {
    const float* rows = inputs + first_row * tiling.in;
    const std::size_t offset = tiling.weight_offset(output);
    float gates[Rows];
    float ups[Rows];
    dot_products<Rows>(rows, tiling.in, gate + offset, gates);
    dot_products<Rows>(rows, tiling.in, up + offset, ups);
    for (std::size_t row = 0; row < Rows; ++row) {
      const float silu = gates[row] / (1.0f + float32_exponential(-gates[row]));
      gated[(first_row + row) * tiling.out + output] = silu * ups[row];
    }
  }
};

template <class Finish>
void launch_multiply(const MatrixView& matrix, const float* inputs, std::size_t rows,
                     std::size_t out, float* outputs) {
  const Tiling tiling{rows, matrix.in, out};
  if (matrix.bfloat16 != nullptr) {
    launch(tiling.items(),
           Multiply<std::uint16_t, Finish>{tiling, matrix.bfloat16, inputs, outputs});
  } else {
    launch(tiling.items(), Multiply<float, Finish>{tiling, matrix.float32, inputs, outputs});
  }
}

template <class Weight>
void launch_gated(const Weight* weights, const MatrixView& gate_up, const float* inputs,
                  std::size_t rows, std::size_t out, float* gated) {
  const Tiling tiling{rows, gate_up.in, out};
  const Weight* up = weights + gate_up.out / 2 * gate_up.in;
  launch(tiling.items(), MultiplyGated<Weight>{tiling, weights, up, inputs, gated});
}

}  // namespace

void ThrustKernels::multiply(const MatrixView& matrix, const ProductInputs& inputs,
                             std::size_t rows, std::size_t out, float* outputs) const {
  launch_multiply<Store>(matrix, inputs.float32, rows, out, outputs);
}

void ThrustKernels::multiply_and_add(const MatrixView& matrix, const ProductInputs& inputs,
                                     std::size_t rows, std::size_t out, float* outputs) const {
  launch_multiply<Add>(matrix, inputs.float32, rows, out, outputs);
}

void ThrustKernels::multiply_gated(const MatrixView& gate_up, const ProductInputs& inputs,
                                   std::size_t rows, std::size_t out,
                                   const ProductInputs& gated) const {
  if (gate_up.bfloat16 != nullptr) {
    launch_gated(gate_up.bfloat16, gate_up, inputs.float32, rows, out, gated.float32);
  } else {
    launch_gated(gate_up.float32, gate_up, inputs.float32, rows, out, gated.float32);
  }
}

}  // namespace tempera::gpu
