#pragma once

#include "gpu/llm/transformer/kernels/cuda/product_launch.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_product_launch.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// A launch of a product with its second phase.
using LaunchWarpgroups = void (*)(simt::Stream&, const ProductPlan&, const ProductOperands&,
                                  const StoreProduct&);

/// Whether a product by each of warpgroup_blocks, of 576 inputs and 112 outputs, has bit for bit
/// what `product` has of the same random operands, and one whose inputs are cut: nine launches and
/// their copies, a millisecond or two. `launch` is another one for tests.
bool warpgroups_have_equal_bits(simt::Stream& stream, LaunchWarpgroups launch = launch_product);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
