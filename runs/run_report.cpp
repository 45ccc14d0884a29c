#include "runs/run_report.hpp"

#include <cmath>
#include <utility>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/core/statistics/foreign_state.hpp"
#include "gpu/core/statistics/kept_share.hpp"
#include "gpu/core/statistics/stepping_stones.hpp"

namespace tempera::gpu {
namespace {

std::uint64_t sweeps_of(const Plan& plan) {
  std::uint64_t sweeps = 0;
  for (const Stage& stage : plan.stages) sweeps += stage.rounds * stage.sweeps;
  return sweeps;
}

}  // namespace

RunReport::RunReport(const SamplingSettings& settings, const DrawSettings& draw,
                     std::span<const Prompt> prompts, const PromptPlans& plans, Of of)
    : settings_(settings),
      draw_(draw),
      prompts_(prompts),
      plans_(plans),
      of_(of),
      total_(draw.ladder, draw.plan),
      prompt_(draw.ladder, draw.plan) {}

std::optional<std::string> RunReport::take(std::size_t run_index,
                                           const TemperingStatistics& statistics, bool is_cut) {
  count_run(run_index);
  total_.add(statistics);
  if (is_cut) ++at_horizon_;
  if (of_ == Of::part) return std::nullopt;
  if (run_index % settings_.samples == 0) prompt_log_z_ratios_.clear();
  prompt_.add(statistics);
  if (!statistics.edges().empty()) prompt_log_z_ratios_.push_back(statistics.log_z_ratios());
  if (is_cut) ++prompt_at_horizon_;
  const bool is_last = (run_index + 1) % settings_.samples == 0;
  return is_last ? end_prompt(run_index / settings_.samples) : std::nullopt;
}

void RunReport::count_run(std::size_t run_index) {
  ++answers_;
  sweeps_ += sweeps_of(plan_of(run_index));
}

std::optional<std::string> RunReport::end_prompt(std::size_t prompt) {
  std::optional<std::string> line;
  if (const auto& id = settings_.prompts[prompt].id) {
    nlohmann::ordered_json& report = prompt_reports_.emplace_back();
    report["id"] = *id;
    report.update(prompt_.report());
    const std::uint64_t sweeps = sweeps_of(plans_.of(prompts_[prompt])) * settings_.samples;
    complete(report, prompt_, sweeps, settings_.samples, prompt_at_horizon_);
    add_log_z(report, prompt_);
    line = report.dump();
  }
  prompt_ = TemperingStatistics(draw_.ladder, draw_.plan);
  prompt_at_horizon_ = 0;
  return line;
}

/// What a report says beside the counts.
void RunReport::complete(nlohmann::ordered_json& report, const TemperingStatistics& statistics,
                         std::uint64_t sweeps, std::size_t answers, std::size_t at_horizon) const {
  report["sweeps"] = sweeps;
  if (const auto sweeps_each = expected_round_trip(statistics.edges(), settings_.schedule)) {
    report["sweeps_per_round_trip_expected"] = *sweeps_each;
    // Each of K replicas makes its trips one after the other.
    report["round_trips_expected"] =
        static_cast<double>(draw_.ladder.rungs()) * static_cast<double>(sweeps) / *sweeps_each;
  }
  report["samples"] = answers;
  report["at_horizon"] = at_horizon;
  // A shard that was dealt no answer has none that the horizon cut.
  report["hit_capacity"] =
      answers == 0 ? 0.0 : static_cast<double>(at_horizon) / static_cast<double>(answers);
}

void RunReport::add_log_z(nlohmann::ordered_json& report,
                          const TemperingStatistics& statistics) const {
  if (draw_.plan.until_kept) {
    const RungCounts& counts = statistics.rungs().front();
    if (counts.accepted == 0) return;
    constexpr double confidence = 0.95;
    constexpr double tv = 0.05;
    const std::size_t horizon = plan_of(answers_ - 1).stages.back().horizon;
    const KeptShare share = kept_share(counts.accepted, counts.moves, confidence);
    report["log_z"] = {{"estimate", logarithm(share.estimate)},
                       {"low", logarithm(share.low)},
                       {"high", logarithm(share.high)},
                       {"confidence", confidence},
                       {"one_chain",
                        {{"horizon", horizon},
                         {"tv_at_most", tv},
                         {"moves", moves_of_one_chain(share.low, horizon, tv)}}}};
  }
  // A run that an older version began has not kept those of its first answers.
  const std::size_t answers = prompt_log_z_ratios_.size();
  const bool is_whole = answers > 0 && answers == (answers_ - 1) % settings_.samples + 1;
  if (answers < 2 || !is_whole || statistics.edges().front().terms == 0) return;
  const StoneErrors errors = stepping_stone_errors(prompt_log_z_ratios_);
  for (std::size_t k = 0; k < errors.of_ratios.size(); ++k)
    report["edges"][k]["log_z_ratio_error"] = errors.of_ratios[k];
}

nlohmann::ordered_json RunReport::summary() const {
  nlohmann::ordered_json json = total_.report();
  complete(json, total_, sweeps_, answers_, at_horizon_);
  if (of_ == Of::whole_run && settings_.prompts.size() == 1) add_log_z(json, total_);
  if (!prompt_reports_.empty()) json["prompts"] = prompt_reports_;
  return json;
}

void RunReport::add_state(nlohmann::json& state) const {
  state["front"] = answers_;
  state["total"] = total_.state();
  state["at_horizon"] = at_horizon_;
  state["prompt"] = prompt_.state();
  state["prompt_at_horizon"] = prompt_at_horizon_;
  auto& ratios = state["prompt_log_z_ratios"] = nlohmann::json::array();
  for (const auto& of_answer : prompt_log_z_ratios_) {
    auto& bits = ratios.emplace_back(nlohmann::json::array());
    for (const double ratio : of_answer) bits.push_back(to_bits(ratio));
  }
}

std::size_t RunReport::restore(const JsonObject& state) {
  const std::size_t runs = settings_.prompts.size() * settings_.samples;
  const std::size_t front = state.whole_number("front", 0, runs);
  total_.restore(state.at("total"));
  at_horizon_ = state.whole_number("at_horizon", 0, front);
  prompt_.restore(state.at("prompt"));
  prompt_at_horizon_ = state.whole_number("prompt_at_horizon", 0, at_horizon_);
  const bool has_ratios = state.has("prompt_log_z_ratios");
  for (const auto& of_answer : has_ratios ? state.array("prompt_log_z_ratios") : nlohmann::json()) {
    auto& ratios = prompt_log_z_ratios_.emplace_back();
    for (const auto& bits : of_answer) {
      if (!bits.is_number_unsigned()) throw ForeignState("a ratio is not the bits of a number");
      ratios.push_back(from_bits(bits.get<std::uint64_t>()));
    }
    if (ratios.size() != total_.edges().size()) throw ForeignState("an answer has other edges");
  }
  if (of_ == Of::whole_run)
    for (std::size_t run_index = 0; run_index < front; ++run_index) count_run(run_index);
  return front;
}

}  // namespace tempera::gpu
