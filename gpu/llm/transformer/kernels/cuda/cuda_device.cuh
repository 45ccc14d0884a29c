#pragma once

#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/plan_clock.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_launch.hpp"
#include "gpu/llm/transformer/kernels/cuda/timed_plans.hpp"
#include "gpu/llm/transformer/kernels/cuda/tried_forms.hpp"

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
  TimedPlans plans;
  TriedForms tried;

  /// The plan of a product of the matrix. One that is new is timed on it, if this is a device.
  const ProductPlan& plan_of(const MatrixView& matrix, std::size_t rows, std::size_t outputs,
                             bool gated, unsigned least_blocks = 1) {
    const ProductCase product{
        as_unsigned(rows),
        as_unsigned(matrix.in),
        as_unsigned(outputs),
        as_unsigned(matrix.out / tile_outputs),
        gated,
        matrix.quantised == nullptr ? WeightForm::fragments : WeightForm::quantised,
        least_blocks};
    return plans.plan_of(product, limits, plan_clock(matrix, product));
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
