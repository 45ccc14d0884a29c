#pragma once

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

  template <class Epilogue>
  void multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                std::size_t out, const Epilogue& epilogue) {
    const ProductPlan plan =
        plan_product(as_unsigned(rows), as_unsigned(matrix.in), as_unsigned(out),
                     as_unsigned(matrix.out / tile_outputs), Epilogue::gated, limits);
    scratch.ensure_size(plan.scratch_floats());
    counters.ensure_size(plan.counters());
    launch_product(stream, plan,
                   {reinterpret_cast<const simt::Vector16*>(matrix.fragments), inputs.bfloat16,
                    scratch.data(), counters.data(), matrix.quantised, matrix.blocks},
                   epilogue);
  }
};

}  // namespace tempera::gpu
