#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gpu/runs/run_folder.hpp"
#include "gpu/runs/sampling_progress.hpp"
#include "gpu/runs/tempering_statistics.hpp"
#include "gpu/sampler/parallel_power_tempering.hpp"

namespace tempera::gpu {

/// Everything that decides the answers of `tempera sample`, resolved: what config.json holds.
struct SamplingSettings {
  std::string model;  ///< as the user named it
  std::vector<TokenId> prompt;
  std::vector<TokenId> terminal;
  std::vector<double> powers;
  std::size_t horizon = 0;
  std::size_t block = 0;
  std::vector<std::size_t> rounds;
  std::vector<std::size_t> local_moves;
  std::vector<std::size_t> sweeps;
  Schedule schedule = Schedule::adj;
  std::size_t output = 0;  ///< output rung k*, from 1 as in the paper
  std::size_t samples = 1;
  std::uint64_t seed = 0;

  nlohmann::ordered_json to_json() const;
  /// @throw BadInput naming `file` for what config.json should not hold
  static SamplingSettings from_json(const nlohmann::json& json, const std::string& file);
  /// @throw BadInput for a ladder, stages or output rung that make no run
  Plan plan() const;
};

/// One answer: the record at the output rung.
struct Answer {
  std::vector<TokenId> tokens;
  double log_p0 = 0.0;
  bool terminated = false;
};

/// Draws `samples` answers to one prompt, all at once through one engine. With a run folder, every
/// event and answer goes there and a killed run is taken up to the same bits; without one nothing
/// is written.
class Sampling {
 public:
  using Decode = std::function<std::string(std::span<const TokenId>)>;
  using OnProgress = std::function<void(const SamplingProgress&)>;

  /// The arguments must outlive the object.
  ///
  /// checkpoint_seconds: the least time between two checkpoints.
  Sampling(LanguageModel& model, const SamplingSettings& settings, Decode decode,
           RunFolder* folder = nullptr, OnProgress on_progress = {},
           double checkpoint_seconds = 0.5);
  ~Sampling();

  /// Runs to the end and returns the answers in order.
  /// @throw BadInput if the checkpoint was made with another model
  std::vector<Answer> run();
  /// Of all samples; summary.json.
  nlohmann::ordered_json summary() const;

 private:
  struct Sample;
  void restore(const nlohmann::json& checkpoint, RowLottery& rows);
  void advanced(Sample& sample, std::span<const Event> events);
  void flush();
  void save();
  void report();

  LanguageModel& model_;
  const SamplingSettings& settings_;
  Decode decode_;
  RunFolder* folder_;
  OnProgress on_progress_;
  double checkpoint_seconds_;
  double saved_at_ = 0.0;
  ReportClock report_clock_;
  Context context_;
  Ladder ladder_;
  Plan plan_;
  Engine* engine_ = nullptr;
  std::vector<std::unique_ptr<Sample>> samples_;
  std::size_t front_ = 0;  ///< the first sample whose events are not all flushed
  TemperingStatistics total_;
};

}  // namespace tempera::gpu
