// Part 8's own sums: which plans are measured, and what is made of the times.
#include <cmath>

#include "tests/catch.hpp"
#include "tests/devices/plan_measurements.hpp"

using namespace tempera::gpu;

namespace {

constexpr ProductDevice h200{132, std::size_t{227} * 1024, true};

struct Sizes {
  const char* name;
  unsigned in, out, tiles;
  bool gated;
};
constexpr Sizes sizes_of_layer[] = {{"query, key, value", 4096, 6144, 384, false},
                                    {"attention output", 4096, 4096, 256, false},
                                    {"gate and up", 4096, 12288, 1536, true},
                                    {"down", 12288, 4096, 256, false}};

/// A device whose steps of four warps have these rates, and whose other forms take what is
/// predicted.
std::vector<MeasuredProduct> measured_by(const WarpgroupRates& rates) {
  std::vector<MeasuredProduct> products;
  for (const Sizes& sizes : sizes_of_layer) {
    for (const unsigned rows : {64U, 128U, 256U, 512U}) {
      MeasuredProduct product{sizes.name, sizes.gated, {}};
      for (const ProductPlan& plan :
           plans_to_measure(rows, sizes.in, sizes.out, sizes.tiles, sizes.gated, h200)) {
        product.plans.push_back(
            {plan, predicted_by(rates, plan, sizes.gated, h200.multiprocessors)});
      }
      products.push_back(std::move(product));
    }
  }
  return products;
}

}  // namespace

TEST_CASE("every number of parts is measured once for each block, and the form without wgmma") {
  // 24 segments: 24, 12, 8, 6, 5, 4, 3, 2 and 1 parts.
  const auto of_many = plans_to_measure(512, 12288, 4096, 256, false, h200);
  CHECK(of_many.size() == 1 + std::size(warpgroup_blocks) * 9);
  CHECK(of_many.front().form != ProductForm::warpgroups);
  CHECK(plans_to_measure(64, 12288, 4096, 256, false, h200).size() == 1 + 3 * 9);
  CHECK(plans_to_measure(128, 4096, 6144, 384, false, h200).size() == 1 + 5 * 5);
  // Whatever the planner chooses is among them.
  for (const Sizes& sizes : sizes_of_layer) {
    for (const unsigned rows : {33U, 64U, 100U, 128U, 256U, 512U}) {
      const auto chosen = plan_product(rows, sizes.in, sizes.out, sizes.tiles, sizes.gated, h200);
      const auto plans =
          plans_to_measure(rows, sizes.in, sizes.out, sizes.tiles, sizes.gated, h200);
      CHECK(std::any_of(plans.begin(), plans.end(), [&](const ProductPlan& plan) {
        return plan.form == chosen.form && plan.token_tiles == chosen.token_tiles &&
               plan.job_units == chosen.job_units && plan.parts == chosen.parts &&
               plan.blocks == chosen.blocks;
      }));
    }
  }
  // No such steps: one plan.
  CHECK(plans_to_measure(64, 12288, 4096, 256, false, {108, std::size_t{163} * 1024}).size() == 1);
}

TEST_CASE("rates are found again from the times that they give") {
  const auto as_predicted = measured_by({});
  CHECK(error_of({}, as_predicted, h200.multiprocessors) == 0.0);
  CHECK(choices_by({}, as_predicted, h200.multiprocessors).most == 1.0);
  // A device whose cache is slower and whose warps wait longer than is calculated.
  const auto slower = measured_by({.cache = 41, .gap = 150, .job_begins = 1900, .waiting = 1.3});
  const double before = error_of({}, slower, h200.multiprocessors);
  CHECK(before > 0.02);
  // The last factor is 1.5^(1/64), 1.0064. If the rates that a time is proportional to, cache and
  // waiting, are within one such step, a prediction is off by 1.3 % and a choice costs 2.6 % at
  // most; what is asked for here is less than that.
  const WarpgroupRates fitted = fitted_rates(slower, h200.multiprocessors);
  CHECK(error_of(fitted, slower, h200.multiprocessors) < before / 100);
  CHECK(choices_by(fitted, slower, h200.multiprocessors).mean <=
        choices_by({}, slower, h200.multiprocessors).mean);
  CHECK(choices_by(fitted, slower, h200.multiprocessors).most < 1.02);
}

TEST_CASE("a choice is judged by the fastest of what was measured") {
  const auto plans = plans_to_measure(64, 4096, 6144, 384, false, h200);
  REQUIRE(plans.size() > 2);
  MeasuredProduct product{"one", false, {}};
  for (const ProductPlan& plan : plans)
    product.plans.push_back({plan, predicted_by({}, plan, false, h200.multiprocessors)});
  const auto chosen = std::min_element(
      product.plans.begin(), product.plans.end(),
      [](const MeasuredPlan& a, const MeasuredPlan& b) { return a.nanoseconds < b.nanoseconds; });
  const double least = chosen->nanoseconds;
  chosen->nanoseconds = 3 * least;
  double other = 1e18;
  for (const MeasuredPlan& each : product.plans) other = std::min(other, each.nanoseconds);
  const Choices choices = choices_by({}, {&product, 1}, h200.multiprocessors);
  CHECK(choices.mean == 3 * least / other);
  CHECK(choices.most == choices.mean);
}
