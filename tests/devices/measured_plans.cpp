// Part 8: what plans of products take, beside the bytes that rank them, and that all have the same
// bits.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <numeric>

#include "gpu/device/device_system.hpp"
#include "tests/devices/device_clock.hpp"
#include "tests/devices/model_products.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/part.hpp"
#include "tests/devices/product_by_plan.hpp"
#include "tests/devices/some_inputs.hpp"

namespace tempera::gpu {

namespace {

/// A product of so many rows on the device, by one plan after another.
class PlannedProduct {
 public:
  PlannedProduct(const Timing& timing, const CudaKernels& kernels, const ModelProduct& product,
                 std::size_t rows)
      : timing_(timing),
        kernels_(kernels),
        product_(product),
        size_(rows * product.out),
        inputs_(some_inputs(rows * product.in)),
        stored_(product.is_gated() ? 1 : size_),
        gated_(product.is_gated() ? size_ : 1) {}

  /// Nanoseconds by this plan. Copies of the matrix take turns, so that each comes from memory. On
  /// fibers one call is enough, for nothing is made of its time.
  double nanoseconds(const ProductPlan& plan, const std::vector<PackedMatrix>& copies) {
    std::size_t turn = 0;
    const auto call = [&] { multiply(plan, copies[turn++ % copies.size()]); };
    const bool is_device = timing_.group_seconds > 0.0;
    return 1e9 * (is_device ? seconds_per_call(timing_, call) : timing_.clock.seconds_of(call));
  }

  /// Whether this plan gives the bits of the first that was asked for.
  bool has_equal_bits(const ProductPlan& plan, const PackedMatrix& matrix) {
    multiply(plan, matrix);
    std::vector<std::uint32_t> bits(size_);
    if (product_.is_gated()) {
      const auto found = gated_.download(0, size_);
      std::copy(found.begin(), found.end(), bits.begin());
    } else {
      const auto found = stored_.download(0, size_);
      std::transform(found.begin(), found.end(), bits.begin(),
                     [](float value) { return std::bit_cast<std::uint32_t>(value); });
    }
    if (first_.empty()) first_ = bits;
    return bits == first_;
  }

 private:
  void multiply(const ProductPlan& plan, const PackedMatrix& matrix) {
    multiply_by_plan(kernels_, plan, matrix.view(), inputs_.data(),
                     product_.is_gated() ? ProductEnd::gate : ProductEnd::store,
                     {stored_.data(), gated_.data(), nullptr});
  }

  const Timing& timing_;
  const CudaKernels& kernels_;
  ModelProduct product_;
  std::size_t size_;
  DeviceMemory<std::uint16_t> inputs_;
  DeviceMemory<float> stored_;
  DeviceMemory<std::uint16_t> gated_;
  std::vector<std::uint32_t> first_;
};

const char* word_for(ProductForm form) {
  return form == ProductForm::chunks ? "chunks" : "steps of four warps";
}

/// A plan and its time, as a line of JSON, which is printed.
void print_plan(const std::string& product, const ProductPlan& plan, double nanoseconds,
                std::size_t bytes, bool first) {
  const nlohmann::ordered_json line = {{"part", 8},
                                       {"product", product},
                                       {"rows", plan.rows},
                                       {"form", word_for(plan.form)},
                                       {"outputs", plan.job_units * plan.unit_tiles * tile_outputs},
                                       {"tokens", 8 * plan.token_tiles},
                                       {"parts", plan.parts},
                                       {"window", plan.window},
                                       {"blocks", plan.blocks},
                                       {"microseconds", nanoseconds * 1e-3},
                                       {"busiest_bytes", bytes},
                                       {"chosen", first}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

struct Measurements {
  std::size_t plans = 0;
  std::size_t different = 0;  ///< plans whose bits are not the first one's
  std::vector<double> first;  ///< of each product the time of its first candidate, of the fastest's
};

/// Measures the candidates of a shape's layer for these numbers of rows, twelve of each form.
void measure(Measurements& all, const Timing& timing, const CudaKernels& kernels,
             const std::string& name, const DecoderConfig& config,
             std::span<const std::size_t> batches) {
  constexpr std::size_t candidates = 24;
  const ProductDevice device = product_device(kernels);
  for (const ModelProduct& product : products_of(config)) {
    if (product.is_head) continue;
    const auto copies = copies_of(product, kernels.arithmetic());
    for (const std::size_t rows : batches) {
      PlannedProduct planned(timing, kernels, product, rows);
      const auto plans = candidate_plans(
          static_cast<unsigned>(rows), static_cast<unsigned>(product.in),
          static_cast<unsigned>(product.out), static_cast<unsigned>(copies.front().out / lanes),
          product.is_gated(), device, WeightForm::fragments, candidates);
      std::vector<double> nanoseconds;
      for (const ProductPlan& plan : plans) {
        all.different += planned.has_equal_bits(plan, copies.front()) ? 0 : 1;
        nanoseconds.push_back(planned.nanoseconds(plan, copies));
        print_plan(name + ", " + product.name, plan, nanoseconds.back(),
                   busiest_bytes(plan, product.is_gated(), device.multiprocessors),
                   &plan == &plans.front());
      }
      all.plans += plans.size();
      all.first.push_back(nanoseconds.front() / *std::ranges::min_element(nanoseconds));
    }
  }
}

/// A layer that fibers multiply with in seconds.
DecoderConfig layer_for_fibers() {
  DecoderConfig config;
  config.hidden_size = 576;  // two segments
  config.intermediate_size = 64;
  config.num_attention_heads = 5;
  config.num_key_value_heads = 1;
  config.head_dim = 16;
  return config;
}

}  // namespace

Finding measured_plans() {
  const bool on_device = device_system() == "CUDA";
  const Timing timing{{}, on_device ? 0.003 : 0.0};
  const CudaKernels kernels(8, std::nullopt, StepForm::launches, own_arithmetic());
  Measurements all;
  if (on_device) {
    constexpr std::size_t batches[] = {64, 1, 4, 128, 16, 512, 256, 8, 32};
    for (const char* name : {"qwen3-8b", "qwen3-4b"})
      measure(all, timing, kernels, name, find_model_shape(name)->config, batches);
  } else {
    constexpr std::size_t batches[] = {2, 40, 136};
    measure(all, timing, kernels, "a small layer", layer_for_fibers(), batches);
  }
  const double mean = std::accumulate(all.first.begin(), all.first.end(), 0.0) /
                      static_cast<double>(all.first.size());
  char first[80];
  std::snprintf(first, sizeof first, "%.3f of the fastest's time in the mean and %.3f at most",
                mean, *std::ranges::max_element(all.first));
  Finding finding;
  finding.verdict = all.different == 0 ? Finding::Verdict::holds : Finding::Verdict::fails;
  finding.words = std::to_string(all.different) + " of " + std::to_string(all.plans) +
                  " plans give other bits; the first candidate takes " + first +
                  (on_device ? "" : "; times are a host's, which say nothing of a device");
  finding.numbers = {{"plans", all.plans}, {"different", all.different}, {"first", mean}};
  return finding;
}

}  // namespace tempera::gpu
