#pragma once

#include <cstdint>

#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"

namespace tempera::gpu {

/// What becomes of the results of a product.
enum class ProductEnd { store, add, gate, logits };

/// Where the results of a product go: floats [rows, out], of which `add` finds some already, or
/// bfloat16s if it is gated; of `logits` also the largest of every 16.
struct PlannedResults {
  float* floats;
  std::uint16_t* gated;
  float* largest;
};

/// What the plans of a device depend on.
ProductDevice product_device(const CudaKernels& kernels);

/// Multiplies by this plan, whatever the planner would choose.
void multiply_by_plan(const CudaKernels& kernels, const ProductPlan& plan, const MatrixView& matrix,
                      const std::uint16_t* inputs, ProductEnd end, const PlannedResults& results);

}  // namespace tempera::gpu
