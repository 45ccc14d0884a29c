#pragma once

#include <cstdint>

#include "gpu/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/transformer/kernels/cuda/product_plan.hpp"
#include "gpu/transformer/weights/matrix_view.hpp"

namespace tempera::gpu {

/// What these kernels have of their device for a plan.
ProductDevice product_device(const CudaKernels& kernels);

/// Where a product leaves its results, one of the two: float32s [rows, out], or those of a gated
/// one, bfloat16s [rows, out].
struct PlannedResults {
  float* stored = nullptr;
  std::uint16_t* gated = nullptr;
};

/// Queues a product by this plan, whatever plan_product would choose. inputs: bfloat16s [plan.rows,
/// plan.in]. @pre matrix is fragments.
void multiply_by_plan(const CudaKernels& kernels, const ProductPlan& plan, const MatrixView& matrix,
                      const std::uint16_t* inputs, const PlannedResults& results);

}  // namespace tempera::gpu
