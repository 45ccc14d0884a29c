#pragma once

#include <span>
#include <string>
#include <vector>

#include "gpu/transformer/kernels/cuda/warpgroup_plan.hpp"

namespace tempera::gpu {

/// A plan and what a device took for it.
struct MeasuredPlan {
  ProductPlan plan;
  double nanoseconds;
};

/// The plans of one product of so many rows that a device was measured with.
struct MeasuredProduct {
  std::string name;
  bool gated;
  std::vector<MeasuredPlan> plans;
};

/// What is worth measuring for a product: the plan that plan_product would choose without steps of
/// four warps, and with them one for each block and number of parts. Sizes: as
/// plan_product has them.
std::vector<ProductPlan> plans_to_measure(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                          bool gated, const ProductDevice& device);

/// What is predicted for a plan if steps of four warps have these rates.
double predicted_by(const WarpgroupRates& rates, const ProductPlan& plan, bool gated,
                    unsigned multiprocessors);

/// How good a choice by prediction is, over all products.
struct Choices {
  double mean = 0.0;  ///< time of the plan that is predicted to take least, of the fastest's
  double most = 0.0;
};
/// @pre each product has a plan
Choices choices_by(const WarpgroupRates& rates, std::span<const MeasuredProduct> products,
                   unsigned multiprocessors);

/// The mean of (ln predicted - ln measured)^2 over plans of steps of four warps; 0 without any.
double error_of(const WarpgroupRates& rates, std::span<const MeasuredProduct> products,
                unsigned multiprocessors);

/// The rates whose error_of is least: from the given ones on, one after another is multiplied or
/// divided by ever smaller factors while that makes it less.
WarpgroupRates fitted_rates(std::span<const MeasuredProduct> products, unsigned multiprocessors);

}  // namespace tempera::gpu
