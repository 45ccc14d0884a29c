#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_document.hpp"
#include "gpu/core/statistics/tempering_statistics.hpp"
#include "gpu/session/prompt_plans.hpp"
#include "settings/sampling_settings.hpp"

namespace tempera::gpu {

/// What is counted of the answers that have left a run, in the order in which they leave: of all,
/// and of each prompt that has an id. Sums of floating-point numbers depend on that order, so
/// whoever merges shards hands over their answers in the order of the runs.
class RunReport {
 public:
  /// What a report is of: a whole run, whose answers leave in the order of their runs, or a
  /// part of one, which has no reports of prompts.
  enum class Of { whole_run, part };

  /// The arguments must outlive the object.
  RunReport(const SamplingSettings& settings, const DrawSettings& draw,
            std::span<const Prompt> prompts, const PromptPlans& plans, Of of);

  /// Counts the answer of a run. Returns the report of its prompt, a line of
  /// prompt_reports.jsonl, if it is the prompt's last and the prompt has an id.
  std::optional<std::string> take(std::size_t run_index, const TemperingStatistics& statistics,
                                  bool is_cut);
  /// How many answers have been counted.
  std::size_t answers() const { return answers_; }
  const TemperingStatistics& total() const { return total_; }
  /// summary.json of the answers so far.
  nlohmann::ordered_json summary() const;

  /// Adds what a checkpoint keeps, "front" among it: how many answers have left.
  void add_state(nlohmann::json& state) const;
  /// Returns how many answers had left. Of a part, count_run is to follow for each of them.
  /// @throw BadInput, or what the reading of JSON throws, for anything that add_state did not add
  /// @pre before the first answer
  std::size_t restore(const JsonObject& state);
  /// Takes the report of a prompt that ended before, in its order.
  void take_prompt(nlohmann::ordered_json report) { prompt_reports_.push_back(std::move(report)); }
  const nlohmann::ordered_json& prompt_reports() const { return prompt_reports_; }
  /// Counts that the answer of this run has left, and nothing else of it.
  void count_run(std::size_t run_index);

 private:
  const Plan& plan_of(std::size_t run_index) const {
    return plans_.of(prompts_[run_index / settings_.samples]);
  }
  std::optional<std::string> end_prompt(std::size_t prompt);
  /// Standard errors of the log Z ratios, or log Z itself from exact rejection: of the answers to
  /// the prompt whose turn it is, since Z is a prompt's own.
  void add_log_z(nlohmann::ordered_json& report, const TemperingStatistics& statistics) const;
  void complete(nlohmann::ordered_json& report, const TemperingStatistics& statistics,
                std::uint64_t sweeps, std::size_t answers, std::size_t at_horizon) const;

  const SamplingSettings& settings_;
  const DrawSettings& draw_;
  std::span<const Prompt> prompts_;
  const PromptPlans& plans_;
  Of of_;
  TemperingStatistics total_;   ///< of the answers that have left
  std::size_t answers_ = 0;     ///< how many those are
  std::uint64_t sweeps_ = 0;    ///< that their plans have
  std::size_t at_horizon_ = 0;  ///< of them, those without a terminal token
  TemperingStatistics prompt_;  ///< of those of the prompt whose turn it is
  std::size_t prompt_at_horizon_ = 0;
  std::vector<std::vector<double>> prompt_log_z_ratios_;  ///< of its answers so far, by edge
  nlohmann::ordered_json prompt_reports_ = nlohmann::ordered_json::array();
};

}  // namespace tempera::gpu
