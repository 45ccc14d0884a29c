#pragma once

#include "gpu/llm/transformer/kernels/cuda/product.cuh"
#include "gpu/llm/transformer/kernels/cuda/product_epilogues.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Queues the product that the plan describes: one kernel, or two if the plan says
/// Adding::next_kernel.
void launch_product(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                    const StoreProduct& epilogue);
void launch_product(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                    const AddProduct& epilogue);
void launch_product(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                    const GateProduct& epilogue);
void launch_product(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                    const StoreLogits& epilogue);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
