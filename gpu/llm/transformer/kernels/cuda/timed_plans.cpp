#include "gpu/llm/transformer/kernels/cuda/timed_plans.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace tempera::gpu {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string name_of(const ProductCase& product) {
  std::string name;
  for (const unsigned value :
       {product.rows, product.in, product.out, product.tiles, product.gated ? 1U : 0U,
        static_cast<unsigned>(product.weights), product.least_blocks})
    name += (name.empty() ? "" : " ") + std::to_string(value);
  return name;
}

/// The rows that a product of so many is timed with: prompts have any number of them.
unsigned timed_rows(unsigned rows) {
  constexpr unsigned apart = 64;
  return rows <= apart ? std::bit_ceil(rows) : quotient_up(rows, apart) * apart;
}

/// The fastest of the plans, each timed five times, by turns.
const ProductPlan& fastest(const std::vector<ProductPlan>& plans, const TimePlan& time) {
  constexpr std::size_t turns = 5;
  for (const ProductPlan& plan : plans) time(plan);  // the first launch of a kernel loads it
  std::vector<std::array<double, turns>> seconds(plans.size());
  for (std::size_t turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < plans.size(); ++i) seconds[i][turn] = time(plans[i]);
  for (auto& each : seconds) std::ranges::nth_element(each, each.begin() + turns / 2);
  const auto least =
      std::ranges::min_element(seconds, {}, [](const auto& each) { return each[turns / 2]; });
  return plans[static_cast<std::size_t>(least - seconds.begin())];
}

}  // namespace

std::filesystem::path plan_folder() {
  const auto folder_in = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return value == nullptr ? fs::path() : fs::path(value);
  };
  if (const fs::path cache = folder_in("XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "tempera";
  const fs::path home = folder_in("HOME");
  return home.is_absolute() ? home / ".cache/tempera" : fs::path();
}

TimedPlans::TimedPlans(fs::path file, std::string of)
    : file_(std::move(file)), of_(std::move(of)) {}

TimedPlans::Choice TimedPlans::choice_of(const ProductPlan& plan) {
  return {static_cast<unsigned>(plan.form),
          plan.token_tiles,
          plan.stages,
          plan.job_units,
          plan.part_segments,
          plan.window,
          static_cast<unsigned>(plan.adding)};
}

void TimedPlans::read() {
  std::ifstream in(file_);
  const json found = json::parse(in, nullptr, false);
  if (!found.is_object() || found.value("of", json()) != of_ || !found.contains("plans") ||
      !found["plans"].is_object())
    return;
  for (const auto& [name, values] : found["plans"].items()) {
    const auto is_number = [](const json& value) { return value.is_number_unsigned(); };
    if (!values.is_array() || values.size() != Choice().size() ||
        !std::ranges::all_of(values, is_number))
      continue;
    Choice choice{};
    for (std::size_t i = 0; i < choice.size(); ++i) choice[i] = values[i].get<unsigned>();
    kept_.emplace(name, choice);  // what this process has timed stays
  }
}

void TimedPlans::write() {
  if (file_.empty()) return;
  read();  // another process may have written since
  json plans = json::object();
  for (const auto& [name, choice] : kept_) plans[name] = choice;
  std::error_code ignored;
  fs::create_directories(file_.parent_path(), ignored);
  const fs::path own = file_.string() + "." + std::to_string(getpid());
  {
    std::ofstream out(own);
    out << json{{"of", of_}, {"plans", plans}}.dump() << '\n';
    if (!out.flush()) {
      fs::remove(own, ignored);
      return;
    }
  }
  fs::rename(own, file_, ignored);
}

const ProductPlan& TimedPlans::plan_of(const ProductCase& product, const ProductDevice& device,
                                       const TimePlan& time) {
  if (const auto known = plans_.find(product); known != plans_.end()) return known->second;
  ProductDevice on = device;
  on.least_blocks = product.least_blocks;
  const unsigned rows = timed_rows(product.rows);
  const bool is_timed = time && rows == product.rows;
  // Among many, where another product's choice is looked for.
  const std::size_t most = !time ? 1 : is_timed ? candidates : 16 * candidates;
  const std::vector<ProductPlan> plans =
      candidate_plans(product.rows, product.in, product.out, product.tiles, product.gated, on,
                      product.weights, most);
  const auto like = [&](const Choice& choice) {
    return std::ranges::find(plans, choice, choice_of);
  };
  if (!is_timed) {
    auto found = plans.begin();
    if (time) {
      ProductCase timed = product;
      timed.rows = rows;
      found = like(choice_of(plan_of(timed, device, time)));
    }
    return plans_.emplace(product, found != plans.end() ? *found : plans.front()).first->second;
  }
  if (!is_read_ && !file_.empty()) read();
  is_read_ = true;
  if (const auto kept = kept_.find(name_of(product)); kept != kept_.end()) {
    // What is no candidate is of a damaged file, and is timed anew.
    const auto found = like(kept->second);
    if (found != plans.end()) return plans_.emplace(product, *found).first->second;
    kept_.erase(kept);
  }
  const ProductPlan& chosen = fastest(plans, time);
  kept_[name_of(product)] = choice_of(chosen);
  write();
  return plans_.emplace(product, chosen).first->second;
}

}  // namespace tempera::gpu
