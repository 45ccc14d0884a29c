#pragma once

#include <array>
#include <map>

#include "gpu/device/device_memory.hpp"
#include "gpu/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/transformer/kernels/cuda/product_launch.hpp"

// What CudaKernels keeps on its device. For device sources: a stream is of the form that its source
// is compiled for.

namespace tempera::gpu {

inline unsigned as_unsigned(std::size_t value) { return static_cast<unsigned>(value); }

struct CudaKernels::Device {
  ProductDevice limits;
  simt::Stream stream;
  // Room for partial results, kept between launches; the counters are zero between them.
  DeviceMemory<float> scratch;
  DeviceMemory<std::uint32_t> counters;
  // Of blocks that have left a phase of a kernel for all layers; zero between launches.
  DeviceMemory<std::uint32_t> phases_left;
  // The plans of all products so far, by rows, in, out, tiles, gated, the weights' form and the
  // blocks that a multiprocessor must have room for. A plan takes longer than its launch.
  std::map<std::array<unsigned, 7>, ProductPlan> plans;

  /// The plan of a product of the matrix.
  const ProductPlan& plan_of(const MatrixView& matrix, std::size_t all_rows, std::size_t outputs,
                             bool gated, unsigned least_blocks = 1) {
    const unsigned rows = as_unsigned(all_rows);
    const unsigned in = as_unsigned(matrix.in);
    const unsigned out = as_unsigned(outputs);
    const unsigned tiles = as_unsigned(matrix.out / tile_outputs);
    const WeightForm form =
        matrix.quantised == nullptr ? WeightForm::fragments : WeightForm::quantised;
    const std::array<unsigned, 7> key{
        rows, in, out, tiles, gated ? 1U : 0U, static_cast<unsigned>(form), least_blocks};
    auto found = plans.find(key);
    if (found == plans.end()) {
      ProductDevice device = limits;
      device.least_blocks = least_blocks;
      found = plans.emplace(key, plan_product(rows, in, out, tiles, gated, device, form)).first;
    }
    return found->second;
  }

  template <class Epilogue>
  void multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                std::size_t out, const Epilogue& epilogue) {
    launch(matrix, {.rows = inputs.bfloat16}, rows, out, epilogue);
  }
  /// The same for rows that the product itself normalises (normalizes_inputs).
  template <class Epilogue>
  void multiply(const MatrixView& matrix, const RowNorm& norm, std::size_t rows, std::size_t out,
                const Epilogue& epilogue) {
    launch(matrix, {nullptr, norm.states, norm.weight, norm.epsilon}, rows, out, epilogue);
  }

 private:
  template <class Epilogue>
  void launch(const MatrixView& matrix, const StagedRows& inputs, std::size_t rows, std::size_t out,
              const Epilogue& epilogue) {
    const ProductPlan& plan = plan_of(matrix, rows, out, Epilogue::gated);
    scratch.ensure_size(plan.scratch_floats());
    counters.ensure_size(plan.counters());
    launch_product(stream, plan,
                   {reinterpret_cast<const simt::Vector16*>(matrix.fragments), inputs,
                    scratch.data(), counters.data(), matrix.quantised, matrix.blocks},
                   epilogue);
  }
};

}  // namespace tempera::gpu
