#pragma once

#include <array>
#include <compare>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"

namespace tempera::gpu {

/// What the plan of a product depends on, besides the device.
struct ProductCase {
  unsigned rows = 0;
  unsigned in = 0;
  unsigned out = 0;
  unsigned tiles = 0;  ///< of 16 outputs that the matrix has
  bool gated = false;
  WeightForm weights = WeightForm::fragments;
  unsigned least_blocks = 1;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const ProductCase&, const ProductCase&) = default;
};

/// Seconds of one launch of a product by a plan.
using TimePlan = std::function<double(const ProductPlan&)>;

/// The plans of a device's products: of the candidates the one that was fastest when they were
/// timed. A plan changes no bit, so neither does a time.
///
/// What was timed is kept in a file, for processes to come on the same device with the same driver
/// and the same build. A file of another, or one that cannot be read, is as none, and is written
/// anew. A file is never needed: one that cannot be written is left.
class TimedPlans {
 public:
  /// Candidates that are timed for each product.
  static constexpr std::size_t candidates = 8;

  /// Keeps nothing beyond itself.
  TimedPlans() = default;
  /// of: names the device, its driver and the build.
  TimedPlans(std::filesystem::path file, std::string of);

  /// The plan of a product. time: if it is there, and no plan is known, each candidate is timed
  /// five times, by turns; else the first candidate is taken. Products of other numbers of rows
  /// than powers of two up to 64 and multiples of 64 take the choice of the next such number.
  /// @throw BadInput as candidate_plans
  const ProductPlan& plan_of(const ProductCase& product, const ProductDevice& device,
                             const TimePlan& time);
  /// The plans so far, which a test may cut otherwise.
  std::map<ProductCase, ProductPlan>& all() { return plans_; }

 private:
  /// What tells the candidates of a product apart.
  using Choice = std::array<unsigned, 7>;
  static Choice choice_of(const ProductPlan& plan);
  void read();
  void write();

  std::filesystem::path file_;
  std::string of_;
  bool is_read_ = false;
  std::map<std::string, Choice> kept_;
  std::map<ProductCase, ProductPlan> plans_;
};

/// The folder for what can be made anew: $XDG_CACHE_HOME/tempera, else ~/.cache/tempera, else
/// nothing.
std::filesystem::path plan_folder();

}  // namespace tempera::gpu
