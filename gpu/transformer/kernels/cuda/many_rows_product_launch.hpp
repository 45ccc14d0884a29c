#pragma once

#include "gpu/transformer/kernels/cuda/many_rows_product.cuh"
#include "gpu/transformer/kernels/cuda/product_epilogues.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Queues the product that plan_many_rows describes.
void launch_many_rows_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const StoreProduct& epilogue);
void launch_many_rows_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const AddProduct& epilogue);
void launch_many_rows_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const GateProduct& epilogue);
void launch_many_rows_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const StoreLogits& epilogue);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
