#include "lab/enumerate/compiled_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/error.hpp"
#include "gpu/core/model/table_model.hpp"
#include "reference/kernels/joint_states.hpp"

namespace tempera::lab {
namespace {

std::vector<float> logits_of(const reference::TokenRow& row) {
  std::vector<float> logits;
  for (const reference::Rational& p : row)
    logits.push_back(p == 0 ? -std::numeric_limits<float>::infinity()
                            : log(to_real(p)).convert_to<float>());
  return logits;
}

// A model and the logits of its rows, each computed when it is first met.
class RowLogits {
 public:
  explicit RowLogits(const reference::FiniteModel& model) : model_(model) {}
  const std::vector<float>& after(std::span<const gpu::TokenId> prefix) {
    const reference::TokenRow& row = model_.token_row(prefix);
    const auto [known, is_new] = logits_.try_emplace(&row);
    if (is_new) known->second = logits_of(row);
    return known->second;
  }

 private:
  const reference::FiniteModel model_;
  std::unordered_map<const reference::TokenRow*, std::vector<float>> logits_;
};

}  // namespace

std::vector<float> logits_after(const EnumerableModel& model,
                                const std::vector<gpu::TokenId>& tokens) {
  std::vector<gpu::TokenId> history = model.context.prompt;
  history.insert(history.end(), tokens.begin(), tokens.end());
  const std::unique_ptr<gpu::Cache> cache = model.model.empty_cache();
  gpu::DeviceMemory<float> rows;
  const gpu::Pass pass{cache.get(), history};
  model.model.next_logits(std::span(&pass, 1), rows);
  return rows.download(0, model.model.vocabulary_size());
}

std::unique_ptr<gpu::LanguageModel> finite_table(const reference::FiniteModel& model) {
  return std::make_unique<gpu::TableModel>(
      model.vocabulary_size(),
      [rows = std::make_shared<RowLogits>(model)](std::span<const gpu::TokenId> prefix) {
        return rows->after(prefix);
      });
}

std::vector<gpu::TokenId> terminal_tokens(const reference::FiniteModel& model) {
  std::vector<gpu::TokenId> terminal;
  for (gpu::TokenId v = 0; v < model.vocabulary_size(); ++v)
    if (model.is_terminal(v)) terminal.push_back(v);
  return terminal;
}

CompiledSpace::CompiledSpace(const EnumerableModel& model, std::size_t horizon, std::size_t limit)
    : model_(model), horizon_(horizon) {
  // A deeper recursion could outgrow the stack.
  constexpr std::size_t longest = 1024;
  if (horizon > longest)
    throw BadInput("horizon " + std::to_string(horizon),
                   "is above " + std::to_string(longest) + ", the longest that is enumerated",
                   "lower the horizon");
  std::vector<gpu::TokenId> tokens;
  extend(tokens, 1, limit);
  for (std::size_t s = 0; s < size(); ++s) index_[records_[s]] = s;
}

void CompiledSpace::extend(std::vector<gpu::TokenId>& tokens, const Real& likelihood,
                           std::size_t limit) {
  const bool terminated = !tokens.empty() && model_.context.is_terminal(tokens.back());
  if (terminated || tokens.size() == horizon_) {
    if (records_.size() == limit)
      throw BadInput("horizon " + std::to_string(horizon_),
                     "the record space has more than " + std::to_string(limit) + " records",
                     "lower the horizon or take a smaller model");
    records_.push_back(tokens);
    likelihoods_.push_back(likelihood);
    return;
  }
  const std::vector<float> logits = logits_after(model_, tokens);
  Real sum = 0;
  for (const float logit : logits)
    if (std::isfinite(logit)) sum += exp(Real(logit));
  for (gpu::TokenId v = 0; v < logits.size(); ++v) {
    if (!std::isfinite(logits[v])) continue;
    tokens.push_back(v);
    extend(tokens, likelihood * exp(Real(logits[v])) / sum, limit);
    tokens.pop_back();
  }
}

std::string CompiledSpace::name(std::size_t s) const {
  std::string name;
  for (const gpu::TokenId token : records_[s])
    name += (name.empty() ? "" : " ") + model_.vocabulary[token];
  return name;
}

std::vector<Real> CompiledSpace::own_target(double power) const {
  return power_of(likelihoods_, power);
}

std::vector<Real> power_of(const std::vector<Real>& weights, double power) {
  // Over the largest, whose power is 1: however high the power, the sum is not 0.
  const Real largest = *std::max_element(weights.begin(), weights.end());
  std::vector<Real> law;
  Real sum = 0;
  for (const Real& weight : weights)
    sum += law.emplace_back(pow(Real(weight / largest), Real(power)));
  for (Real& probability : law) probability /= sum;
  return law;
}

std::size_t joint_states(const CompiledSpace& space, std::size_t rungs, std::size_t limit,
                         const std::string& what) {
  const std::size_t states = reference::joint_states_up_to(limit, space.size(), rungs);
  if (states > limit)
    throw BadInput(
        "horizon " + std::to_string(space.horizon()),
        std::to_string(space.size()) + " records on " + std::to_string(rungs) +
            " rungs are more than " + std::to_string(limit) + " joint states, the most " + what,
        "lower the horizon, take fewer rungs, or use `tempera exact` for the reference alone");
  return states;
}

}  // namespace tempera::lab
