#include "gpu/core/statistics/round_series.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/core/statistics/foreign_state.hpp"

namespace tempera::gpu {
namespace {

void add_to(std::vector<double>& sums, std::span<const double> values) {
  sums.resize(std::max(sums.size(), values.size()), 0.0);
  for (std::size_t k = 0; k < values.size(); ++k) sums[k] += values[k];
}

nlohmann::json bits_of(const std::vector<double>& values) {
  auto bits = nlohmann::json::array();
  for (const double value : values) bits.push_back(to_bits(value));
  return bits;
}

}  // namespace

RoundSeries::RoundSeries(std::size_t rungs, const Plan& plan) : rungs_(rungs) {
  // Proposals until one is kept are not rounds: their number differs from answer to answer.
  if (plan.until_kept) return;
  std::size_t all = 0;
  for (const Stage& stage : plan.stages) ends_.push_back(all += stage.rounds + 1);
  if (all == 0) return;
  const std::size_t most_steps = std::max<std::size_t>(1, most_numbers / rungs);
  stride_ = (all + most_steps - 1) / most_steps;
  steps_.resize((all - 1) / stride_ + 1);
  if (are_replicas_counted()) replica_rounds_.resize(rungs * rungs);
}

void RoundSeries::count(std::size_t stage, std::size_t round, std::span<const double> log_p0,
                        std::span<const double> confidence,
                        std::span<const std::size_t> replica_at) {
  if (stage >= ends_.size()) return;
  const std::size_t number = (stage == 0 ? 0 : ends_[stage - 1]) + round;
  if (number >= ends_[stage]) return;
  if (round > 0 && are_replicas_counted())
    for (std::size_t k = 0; k < rungs_; ++k) ++replica_rounds_[replica_at[k] * rungs_ + k];
  const std::size_t remaining = ends_.back() - 1 - number;
  if (remaining % stride_ != 0) return;
  Step& step = steps_[steps_.size() - 1 - remaining / stride_];
  step.stage = stage;
  step.round = round;
  step.log_p0.resize(rungs_, 0.0);
  // The particles of one power are taken together.
  step.records += log_p0.size() / rungs_;
  for (std::size_t i = 0; i < log_p0.size(); ++i) step.log_p0[rungs_ == 1 ? 0 : i] += log_p0[i];
  if (!confidence.empty()) {
    is_confidence_measured_ = true;
    step.confidence.resize(rungs_, 0.0);
    for (std::size_t i = 0; i < confidence.size(); ++i)
      step.confidence[rungs_ == 1 ? 0 : i] += confidence[i];
  }
  if (rungs_ > 1 && step.replicas.empty())
    step.replicas.assign(replica_at.begin(), replica_at.end());
}

void RoundSeries::add(const RoundSeries& other) {
  const bool is_first = counted().empty();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& from = other.steps_[i];
    if (from.records == 0) continue;
    Step& step = steps_[i];
    step.stage = from.stage;
    step.round = from.round;
    step.records += from.records;
    add_to(step.log_p0, from.log_p0);
    add_to(step.confidence, from.confidence);
    if (is_first) step.replicas = from.replicas;
  }
  for (std::size_t i = 0; i < replica_rounds_.size(); ++i)
    replica_rounds_[i] += other.replica_rounds_[i];
  is_confidence_measured_ = is_confidence_measured_ || other.is_confidence_measured_;
}

std::span<const RoundSeries::Step> RoundSeries::counted() const {
  const auto end = std::find_if(steps_.begin(), steps_.end(),
                                [](const Step& step) { return step.records == 0; });
  return {steps_.begin(), end};
}

void RoundSeries::report(nlohmann::ordered_json& into) const {
  if (counted().empty()) return;
  auto& rounds = into["rounds"] = nlohmann::ordered_json::object();
  for (const Step& step : counted()) {
    rounds["stages"].push_back(step.stage + 1);
    rounds["rounds"].push_back(step.round);
    rounds["records"].push_back(step.records);
  }
  const auto add_by_rung = [&](const char* name, const auto& value) {
    for (std::size_t k = 0; k < rungs_; ++k) {
      auto& line = rounds[name].emplace_back(nlohmann::ordered_json::array());
      for (const Step& step : counted()) line.push_back(value(step, k));
    }
  };
  add_by_rung("mean_log_p0", [](const Step& step, std::size_t k) {
    return step.log_p0[k] / static_cast<double>(step.records);
  });
  if (is_confidence_measured_)
    add_by_rung("mean_confidence", [](const Step& step, std::size_t k) {
      return step.confidence[k] / static_cast<double>(step.records);
    });
  if (rungs_ == 1) return;
  add_by_rung("first_answer_replicas", [](const Step& step, std::size_t k) {
    return step.replicas.empty() ? nlohmann::ordered_json()
                                 : nlohmann::ordered_json(step.replicas[k] + 1);
  });
  if (!are_replicas_counted()) return;
  auto& table = into["replica_rounds"] = nlohmann::ordered_json::array();
  for (auto row = replica_rounds_.begin(); row != replica_rounds_.end();
       row += static_cast<std::ptrdiff_t>(rungs_))
    table.push_back(std::vector<std::uint64_t>(row, row + static_cast<std::ptrdiff_t>(rungs_)));
}

nlohmann::json RoundSeries::state() const {
  auto steps = nlohmann::json::array();
  for (const Step& step : counted())
    steps.push_back({step.stage, step.round, step.records, bits_of(step.log_p0),
                     bits_of(step.confidence), step.replicas});
  return {{"steps", std::move(steps)},
          {"replica_rounds", replica_rounds_},
          {"confidence", is_confidence_measured_}};
}

void RoundSeries::restore(const nlohmann::json& state) {
  const std::string text = text_of(state);
  StateText own(text);
  restore(own);
  own.end();
}

void RoundSeries::restore(StateText& state) {
  state.pass("{\"confidence\":");
  is_confidence_measured_ = state.boolean();
  state.pass(",\"replica_rounds\":");
  state.list_of(replica_rounds_.size(),
                [&](std::size_t i) { replica_rounds_[i] = state.number(); });
  state.pass(",\"steps\":");
  const auto read_bits = [&](std::vector<double>& values, std::size_t count) {
    values.resize(count);
    state.list_of(count, [&](std::size_t k) { values[k] = from_bits(state.number()); });
  };
  const std::size_t counted = state.list([&](std::size_t i) {
    if (i >= steps_.size()) throw ForeignState("there are more steps than the plan has");
    Step& step = steps_[i];
    state.pass("[");
    step.stage = state.number();
    state.pass(",");
    step.round = state.number();
    state.pass(",");
    step.records = state.number();
    state.pass(",");
    read_bits(step.log_p0, rungs_);
    state.pass(",");
    read_bits(step.confidence, is_confidence_measured_ ? rungs_ : 0);
    state.pass(",");
    step.replicas.clear();
    state.list([&](std::size_t) { step.replicas.push_back(state.number()); });
    if (!step.replicas.empty() && step.replicas.size() != rungs_)
      throw ForeignState("figures of a step are not one for each rung");
    state.pass("]");
  });
  for (std::size_t i = counted; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    step.stage = step.round = step.records = 0;
    step.log_p0.clear();
    step.confidence.clear();
    step.replicas.clear();
  }
  state.pass("}");
}

}  // namespace tempera::gpu
