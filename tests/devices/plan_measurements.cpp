#include "tests/devices/plan_measurements.hpp"

#include <algorithm>
#include <cmath>

namespace tempera::gpu {

std::vector<ProductPlan> plans_to_measure(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                          bool gated, const ProductDevice& device) {
  std::vector<ProductPlan> plans{
      plan_product(rows, in, out, tiles, gated, {device.multiprocessors, device.shared_bytes})};
  const auto by_four_warps = warpgroup_plans(rows, in, out, tiles, gated, device);
  plans.insert(plans.end(), by_four_warps.begin(), by_four_warps.end());
  return plans;
}

double predicted_by(const WarpgroupRates& rates, const ProductPlan& plan, bool gated,
                    unsigned multiprocessors) {
  const double predicted = predicted_nanoseconds(plan, gated, multiprocessors);
  if (plan.form != ProductForm::warpgroups) return predicted;
  return predicted - nanoseconds_of_warpgroups(plan, multiprocessors) +
         nanoseconds_of_warpgroups(plan, multiprocessors, rates);
}

Choices choices_by(const WarpgroupRates& rates, std::span<const MeasuredProduct> products,
                   unsigned multiprocessors) {
  Choices choices;
  for (const MeasuredProduct& product : products) {
    const auto predicted = [&](const MeasuredPlan& each) {
      return predicted_by(rates, each.plan, product.gated, multiprocessors);
    };
    const auto chosen = std::ranges::min_element(product.plans, {}, predicted);
    const auto fastest = std::ranges::min_element(product.plans, {}, &MeasuredPlan::nanoseconds);
    const double ratio = chosen->nanoseconds / fastest->nanoseconds;
    choices.mean += ratio / static_cast<double>(products.size());
    choices.most = std::max(choices.most, ratio);
  }
  return choices;
}

double error_of(const WarpgroupRates& rates, std::span<const MeasuredProduct> products,
                unsigned multiprocessors) {
  double sum = 0.0;
  std::size_t plans = 0;
  for (const MeasuredProduct& product : products) {
    for (const MeasuredPlan& each : product.plans) {
      if (each.plan.form != ProductForm::warpgroups) continue;
      const double predicted = predicted_by(rates, each.plan, product.gated, multiprocessors);
      const double distance = std::log(predicted / each.nanoseconds);
      sum += distance * distance;
      ++plans;
    }
  }
  return plans == 0 ? 0.0 : sum / static_cast<double>(plans);
}

WarpgroupRates fitted_rates(std::span<const MeasuredProduct> products, unsigned multiprocessors) {
  constexpr double least_gain = 1e-4;  // below it a rate that hardly matters would go on and on
  WarpgroupRates best;
  double least = error_of(best, products, multiprocessors);
  for (double factor = 1.5; factor > 1.005; factor = std::sqrt(factor)) {
    bool improved = true;
    while (improved) {
      improved = false;
      for (double WarpgroupRates::*const rate :
           {&WarpgroupRates::cache, &WarpgroupRates::gap, &WarpgroupRates::job_begins,
            &WarpgroupRates::waiting}) {
        for (const double by : {factor, 1 / factor}) {
          WarpgroupRates other = best;
          other.*rate *= by;
          const double error = error_of(other, products, multiprocessors);
          if (error >= least * (1 - least_gain)) continue;
          least = error;
          best = other;
          improved = true;
        }
      }
    }
  }
  return best;
}

}  // namespace tempera::gpu
