#pragma once

#include <vector>

#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_layout.hpp"

namespace tempera::gpu {

/// The plan of warpgroup_product for blocks of warpgroup_blocks, and so many segments of a part at
/// most. Sizes: as plan_product has them.
ProductPlan plan_for_blocks(const WarpgroupBlock& block, unsigned part_segments, unsigned rows,
                            unsigned in, unsigned out, unsigned tiles, bool gated);

/// What a block of such a plan has.
inline WarpgroupBlock block_of(const ProductPlan& plan) {
  return {plan.job_units * plan.unit_tiles, 8 * plan.token_tiles};
}

/// All plans of warpgroup_product that are worth a choice: of each block that no smaller one with
/// room for all rows replaces, one for each number of parts. Empty if the device has no such steps
/// or too little shared memory, or if the inputs are not a multiple of 64.
std::vector<ProductPlan> warpgroup_plans(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                         bool gated, const ProductDevice& device);

}  // namespace tempera::gpu
