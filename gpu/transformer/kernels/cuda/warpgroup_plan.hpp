#pragma once

#include "gpu/transformer/kernels/cuda/product_plan.hpp"

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

/// The plan of warpgroup_product for blocks of so many tokens, 64, 128 or 256, and so many segments
/// of a part at most, whatever it is predicted to take. Sizes: as plan_product has them.
ProductPlan plan_for_tokens(unsigned tokens, unsigned part_segments, unsigned rows, unsigned in,
                            unsigned out, unsigned tiles, bool gated);

/// What warpgroup_product takes, without the second phase of a plan that cuts the inputs.
double nanoseconds_of_warpgroups(const ProductPlan& plan, unsigned multiprocessors);

}  // namespace tempera::gpu
