#pragma once

#include "gpu/llm/transformer/kernels/cuda/product_epilogues.cuh"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_product.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Whether the device takes steps of four warps, and this build has their code: Hopper's alone has.
bool has_warpgroup_steps();

/// Queues the kernel of a plan of plan_warpgroups, without add_segments.
/// @throw Bug for quantised weights, for rows that the product would normalise itself, and without
/// has_warpgroup_steps
void launch_warpgroup_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const StoreProduct& epilogue);
void launch_warpgroup_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const AddProduct& epilogue);
void launch_warpgroup_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const GateProduct& epilogue);
void launch_warpgroup_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const StoreLogits& epilogue);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
