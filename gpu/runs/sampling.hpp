#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "gpu/runs/run_folder.hpp"
#include "gpu/runs/sampling_progress.hpp"
#include "gpu/runs/sampling_settings.hpp"
#include "gpu/runs/tempering_statistics.hpp"

namespace tempera::gpu {

/// An answer as a run gives it out.
struct SampledAnswer {
  const SamplePrompt& prompt;
  std::size_t sample = 0;  ///< among those of its prompt
  Answer answer;
  std::string text;   ///< of all its tokens
  std::string shown;  ///< of all but the terminal one: what people read
};

/// Is told how a run goes on.
struct SamplingWatcher {
  /// Each answer as soon as it and all before it are there, in order; a run that is taken up begins
  /// with those that are in its folder.
  std::function<void(const SampledAnswer&)> answer;
  /// At most ten times a second.
  std::function<void(const SamplingProgress&)> progress;
};

using Decode = std::function<std::string(std::span<const TokenId>)>;

/// Draws the answers of `tempera sample`. With a run folder, every event and answer goes there and
/// a killed run is taken up to the same bits; without one nothing is written.
class Sampling final : private DrawObserver {
 public:
  /// The arguments must outlive the object.
  ///
  /// checkpoint_seconds: the least time between two checkpoints. Where they are slow they are made
  /// so seldom that they take at most a fortieth of the time.
  Sampling(LanguageModel& model, const SamplingSettings& settings, Decode decode,
           RunFolder* folder = nullptr, SamplingWatcher watcher = {},
           double checkpoint_seconds = 0.5);
  ~Sampling() override;

  /// @throw BadInput if the checkpoint was made with another model
  void run();
  /// Of all samples; summary.json.
  nlohmann::ordered_json summary() const;

 private:
  /// What is kept of a run from its first round until its answer has left.
  struct UnderWay;

  std::optional<Answer> ended_before(std::size_t place) override;
  std::optional<SavedProgress> begun_before(std::size_t place) override;
  void advanced(std::size_t place, const Progress& progress,
                std::span<const Event> events) override;
  void ended(std::size_t place, const Progress& progress) override;
  void drawn(std::size_t place, const Answer& answer) override;

  void restore();
  UnderWay& under_way(std::size_t place);
  void keep(std::size_t place, UnderWay& run, nlohmann::json state);
  void begin_checkpoint();
  void write_checkpoint();
  void report();

  LanguageModel& model_;
  const SamplingSettings& settings_;
  Decode decode_;
  RunFolder* folder_;
  SamplingWatcher watcher_;
  DrawSettings draw_;
  TemperingStatistics total_;  ///< of the answers that have left
  std::size_t front_ = 0;      ///< how many have left
  std::map<std::size_t, UnderWay> under_way_;
  std::uint64_t decode_tokens_ = 0;
  ReportClock report_clock_;

  double checkpoint_seconds_;
  double saved_at_ = 0.0;        ///< when the last checkpoint was written
  double seconds_saving_ = 0.0;  ///< what the checkpoint in the making has cost
  double pause_ = 0.0;           ///< how long to wait after the last checkpoint
  bool saving_ = false;
  std::size_t due_ = 0;  ///< runs that the checkpoint in the making waits for
};

/// Hands over the answers that lie in a run folder, in order: of a finished run all.
/// @throw BadInput if one is not as tempera writes it
void for_each_answer(const RunFolder& folder, const SamplingSettings& settings,
                     const std::function<void(const SampledAnswer&)>& take);

}  // namespace tempera::gpu
