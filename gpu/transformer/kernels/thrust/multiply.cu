#include <variant>

#include "gpu/device/launch.hpp"
#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "gpu/transformer/kernels/float_lanes.hpp"
#include "gpu/transformer/kernels/kernels.hpp"
#include "gpu/transformer/weights/weight_value.hpp"

namespace tempera::gpu {

namespace {

/// Rows that share each read of a weight.
constexpr std::size_t tile_rows = 8;
/// Products summed in order before their sum joins the total: bounds the rounding error of a long
/// dot product by (256 + in / 256) units instead of `in`.
constexpr std::size_t run_length = 256;

#if defined(TEMPERA_DEVICE_CUDA)
/// The outputs of one work item: a thread carries one lane of a block.
using Outputs = float;
TEMPERA_HOST_DEVICE inline float all_outputs(float value) { return value; }
template <class Weight>
TEMPERA_HOST_DEVICE inline float load_weights(const Weight* weights) {
  return weight_value(*weights);
}
TEMPERA_HOST_DEVICE inline void store_outputs(float value, float* memory) { *memory = value; }
#else
/// The outputs of one work item: all lanes of a block.
using Outputs = FloatLanes;
inline FloatLanes all_outputs(float value) { return broadcast(value); }
template <class Weight>
inline FloatLanes load_weights(const Weight* weights) {
  return load(weights);
}
inline void store_outputs(const FloatLanes& value, float* memory) { store(value, memory); }
#endif
constexpr std::size_t item_outputs = sizeof(Outputs) / sizeof(float);

/// The dot products of `Rows` rows with the outputs of an item.
/// inputs: [Rows, in]; weights: those of the first output, [in, lanes]; products: [Rows,
/// item_outputs].
template <std::size_t Rows, class Weight>
TEMPERA_HOST_DEVICE inline void dot_products(const float* inputs, std::size_t in,
                                             const Weight* weights,
                                             float (&products)[Rows][item_outputs]) {
  Outputs totals[Rows];
  for (auto& total : totals) total = all_outputs(0.0f);
  for (std::size_t begin = 0; begin < in; begin += run_length) {
    const std::size_t end = begin + run_length < in ? begin + run_length : in;
    Outputs run[Rows];
    for (auto& sum : run) sum = all_outputs(0.0f);
    for (std::size_t i = begin; i < end; ++i) {
      const Outputs weight = load_weights(weights + i * lanes);
      for (std::size_t row = 0; row < Rows; ++row) {
        run[row] = fused_multiply_add(all_outputs(inputs[row * in + i]), weight, run[row]);
      }
    }
    for (std::size_t row = 0; row < Rows; ++row) totals[row] = totals[row] + run[row];
  }
  for (std::size_t row = 0; row < Rows; ++row) store_outputs(totals[row], products[row]);
}

/// What becomes of a dot product.
struct Store {
  TEMPERA_HOST_DEVICE void operator()(float& output, float product) const { output = product; }
};
struct Add {
  TEMPERA_HOST_DEVICE void operator()(float& output, float product) const { output += product; }
};

/// Where the work items of a product lie: the tiles of rows innermost, so that neighbouring items
/// read the same weights.
struct Tiling {
  std::size_t rows;
  std::size_t in;
  std::size_t out;

  std::size_t items() const { return row_tiles() * (padded(out) / item_outputs); }
  TEMPERA_HOST_DEVICE std::size_t row_tiles() const { return (rows + tile_rows - 1) / tile_rows; }
  TEMPERA_HOST_DEVICE std::size_t first_row(std::size_t item) const {
    return item % row_tiles() * tile_rows;
  }
  TEMPERA_HOST_DEVICE std::size_t first_output(std::size_t item) const {
    return item / row_tiles() * item_outputs;
  }
  /// Offset of the weights of output `output` in a packed matrix.
  TEMPERA_HOST_DEVICE std::size_t weight_offset(std::size_t output) const {
    return output / lanes * in * lanes + output % lanes;
  }
};

/// Calls kernel.template tile<Rows>(first row, first output) for the tile of an item, Rows being
/// the number of rows that it has.
template <class Kernel, std::size_t Rows = tile_rows>
TEMPERA_HOST_DEVICE inline void run_tile(const Kernel& kernel, std::size_t item) {
  const std::size_t first_row = kernel.tiling.first_row(item);
  if constexpr (Rows > 1) {
    if (kernel.tiling.rows - first_row < Rows) return run_tile<Kernel, Rows - 1>(kernel, item);
  }
  kernel.template tile<Rows>(first_row, kernel.tiling.first_output(item));
}

template <class Weight, class Finish>
struct Multiply {
  Tiling tiling;
  const Weight* weights;  // packed [out / lanes, in, lanes]
  const float* inputs;    // [rows, in]
  float* outputs;         // [rows, out]

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const { run_tile(*this, item); }

  template <std::size_t Rows>
  TEMPERA_HOST_DEVICE void tile(std::size_t first_row, std::size_t first_output) const {
    float products[Rows][item_outputs];
    dot_products<Rows>(inputs + first_row * tiling.in, tiling.in,
                       weights + tiling.weight_offset(first_output), products);
    for (std::size_t row = 0; row < Rows; ++row) {
      float* output = outputs + (first_row + row) * tiling.out + first_output;
      for (std::size_t lane = 0; lane < item_outputs; ++lane) {
        if (first_output + lane < tiling.out) Finish()(output[lane], products[row][lane]);
      }
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
  TEMPERA_HOST_DEVICE void tile(std::size_t first_row, std::size_t first_output) const {
    const float* rows = inputs + first_row * tiling.in;
    const std::size_t offset = tiling.weight_offset(first_output);
    float gates[Rows][item_outputs];
    float ups[Rows][item_outputs];
    dot_products<Rows>(rows, tiling.in, gate + offset, gates);
    dot_products<Rows>(rows, tiling.in, up + offset, ups);
    for (std::size_t row = 0; row < Rows; ++row) {
      float* output = gated + (first_row + row) * tiling.out + first_output;
      float values[item_outputs];
      for (std::size_t lane = 0; lane < item_outputs; ++lane) {
        const float g = gates[row][lane];
        values[lane] = g / (1.0f + float32_exponential(-g)) * ups[row][lane];
      }
      for (std::size_t lane = 0; lane < item_outputs; ++lane) {
        if (first_output + lane < tiling.out) output[lane] = values[lane];
      }
    }
  }
};

template <class Finish>
void launch_multiply(const PackedMatrix& matrix, const float* inputs, std::size_t rows,
                     std::size_t out, float* outputs) {
  const Tiling tiling{rows, matrix.in, out};
  const auto run = [&]<class Weight>(const DeviceMemory<Weight>& weights) {
    launch(tiling.items(), Multiply<Weight, Finish>{tiling, weights.data(), inputs, outputs});
  };
  std::visit(run, matrix.weights);
}

}  // namespace

void multiply(const PackedMatrix& matrix, const float* inputs, std::size_t rows, std::size_t out,
              float* outputs) {
  launch_multiply<Store>(matrix, inputs, rows, out, outputs);
}

void multiply_and_add(const PackedMatrix& matrix, const float* inputs, std::size_t rows,
                      std::size_t out, float* outputs) {
  launch_multiply<Add>(matrix, inputs, rows, out, outputs);
}

void multiply_gated(const PackedMatrix& gate_up, const float* inputs, std::size_t rows,
                    std::size_t out, float* gated) {
  const Tiling tiling{rows, gate_up.in, out};
  const auto run = [&]<class Weight>(const DeviceMemory<Weight>& weights) {
    const Weight* gate = weights.data();
    const Weight* up = gate + padded(out) * gate_up.in;
    launch(tiling.items(), MultiplyGated<Weight>{tiling, gate, up, inputs, gated});
  };
  std::visit(run, gate_up.weights);
}

}  // namespace tempera::gpu
