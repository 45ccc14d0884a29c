#pragma once

#include <vector>

#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_layout.hpp"

namespace tempera::gpu {

// An H200's, for one multiprocessor: cycles a nanosecond, and bytes a nanosecond of the
// second-level cache.
constexpr double h200_cycles = 1.755;
constexpr double h200_cache = 60;
/// The beginning and the end of a kernel, fitted to an H200's measured plans.
constexpr double launch_nanoseconds = 3700;

/// What the weights of a product take to come from memory, at the rate of those plans.
inline double memory_nanoseconds(const ProductPlan& plan, unsigned multiprocessors) {
  constexpr double memory = 30.5;  // bytes a nanosecond and multiprocessor
  const double tiles = double(plan.units) * plan.unit_tiles;
  return tiles * tile_outputs * plan.in * 2 / multiprocessors / memory;
}

/// The plan of warpgroup_product for blocks of warpgroup_blocks, and so many segments of a part at
/// most, whatever it is predicted to take. Sizes: as plan_product has them.
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

/// What the time of warpgroup_product is calculated from, for one multiprocessor: enough to rank
/// candidates. No device has confirmed these.
struct WarpgroupRates {
  double cache = h200_cache;  ///< bytes a nanosecond of the second-level cache
  double gap = 60;            ///< cycles between the steps of two stages
  double job_begins = 700;    ///< nanoseconds of a block's beginning and end
  double waiting = 1;         ///< what a stage takes, of its calculated time
};

/// What warpgroup_product takes, without the second phase of a plan that cuts the inputs.
double nanoseconds_of_warpgroups(const ProductPlan& plan, unsigned multiprocessors,
                                 const WarpgroupRates& rates = {});

}  // namespace tempera::gpu
