#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"
#include "tests/devices/product_by_plan.hpp"

namespace tempera::gpu {

ProductDevice product_device(const CudaKernels& kernels) { return kernels.device().limits; }

void multiply_by_plan(const CudaKernels& kernels, const ProductPlan& plan, const MatrixView& matrix,
                      const std::uint16_t* inputs, ProductEnd end, const PlannedResults& results) {
  CudaKernels::Device& device = kernels.device();
  device.scratch.ensure_size(plan.scratch_floats());
  device.counters.ensure_size(plan.counters());
  const ProductOperands operands{reinterpret_cast<const simt::Vector16*>(matrix.fragments),
                                 {.rows = inputs},
                                 device.scratch.data(),
                                 device.counters.data(),
                                 nullptr,
                                 nullptr};
  switch (end) {
    case ProductEnd::store:
      return launch_product(device.stream, plan, operands, StoreProduct{results.floats, nullptr});
    case ProductEnd::add:
      return launch_product(device.stream, plan, operands, AddProduct{results.floats});
    case ProductEnd::gate:
      return launch_product(device.stream, plan, operands, GateProduct{results.gated});
    case ProductEnd::logits:
      return launch_product(device.stream, plan, operands,
                            StoreLogits{results.floats, results.largest});
  }
}

}  // namespace tempera::gpu
