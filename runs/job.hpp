#pragma once

#include <exception>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/json_document.hpp"
#include "gpu/core/statistics/sampling_progress.hpp"
#include "gpu/core/statistics/tempering_statistics.hpp"
#include "gpu/session/prompt_plans.hpp"
#include "runs/deal.hpp"
#include "runs/run_folder.hpp"
#include "runs/run_report.hpp"
#include "runs/run_speed.hpp"
#include "settings/defaults.hpp"
#include "settings/sampling_settings.hpp"

namespace tempera::gpu {

/// An answer as a run gives it out.
struct SampledAnswer {
  const SamplePrompt& prompt;
  std::size_t sample = 0;  ///< among those of its prompt
  Answer answer;
  std::string text;   ///< of all its tokens
  std::string shown;  ///< what people read: of all but a terminal token, up to a stop string
};

/// Is told how a run goes on.
struct JobWatcher {
  /// Each answer as soon as it and all before it are there, in order; a run that is resumed begins
  /// with those that are in its folder.
  std::function<void(const SampledAnswer&)> answer;
  /// At most ten times a second.
  std::function<void(const SamplingProgress&)> progress;
  /// Asked before each forward pass: whether to stop.
  std::function<bool()> stop;
  /// One line for people, at most once: how many samples are under way at once, if the bound on
  /// caches that nobody gave keeps others waiting.
  std::function<void(const std::string&)> remark = {};
  /// A device is lost, and why; the others go on with its work.
  std::function<void(const std::string& device, const std::string& why)> device_lost = {};
};

/// A run has stopped because it was asked to; its folder holds all but the rounds in flight.
class RunStopped final : public std::exception {
 public:
  const char* what() const noexcept override { return "the run was asked to stop"; }
};

/// How a run is laid out, which changes no answer.
struct JobLayout {
  /// How often what has ended is forced to the disk, so that it outlasts a power failure: by a
  /// checkpoint, or, if these are slow, by the journal, for checkpoints take at most a hundredth
  /// of the time. 0: by a checkpoint after every round, whatever it takes.
  double checkpoint_seconds = defaults::checkpoint_seconds;
  SessionOptions session = {};
  /// Several devices that share the work, each with the model. If there is none, the model's own
  /// does it.
  std::vector<DrawDevice> devices = {};
};

struct EndedRound;
struct PossibleRuns;

/// Draws the answers of `tempera sample`. With a run folder, every event and answer goes there, and
/// a run that is killed at any moment is resumed to the same bits after the last round that each
/// answer under way has ended; without one nothing is written.
class Job final : private DrawListener {
 public:
  /// deal: of a shard, which draws some of the run's answers and keeps beside them, in its folder,
  /// what their merge needs. The arguments must outlive the object.
  Job(LanguageModel& model, const SamplingSettings& settings, const TokenText& text,
      RunFolder* folder = nullptr, JobWatcher watcher = {}, const JobLayout& layout = {},
      Deal* deal = nullptr);
  ~Job() override;

  /// @throw BadInput if the checkpoint was made with another model, or as draw_answers and Deal
  /// @throw RunStopped if the watcher asks for it, all rounds that have ended being saved
  void run();
  /// What was counted of all samples, and of each prompt that has an id; summary.json. A function
  /// of the settings and the model.
  nlohmann::ordered_json summary() const;
  /// What it took, the earlier processes of a resumed run included: seconds, tokens/s, how many
  /// tokens were drawn and how many of them were wasted, forward passes, the time in each
  /// part, and the most bytes of caches; speed.json.
  nlohmann::ordered_json speed() const;

 private:
  /// What is kept of a run from its first round until its answer is delivered.
  struct ActiveRun;

  std::optional<Answer> ended_before(std::size_t run_index) override;
  std::optional<SavedProgress> begun_before(std::size_t run_index) override;
  void before_batch(const SessionTotals& so_far) override;
  void round_ended(RequestId run_index, std::size_t, const Progress& progress,
                   std::span<const Event> events) override;
  void answered(RequestId run_index, std::size_t, const Answer& answer) override;
  void drawn(std::size_t run_index, const Answer& answer) override;

  void restore();
  void restore_checkpoint();
  void restore_prompt_reports(const JsonObject& state);
  void restore_parts();
  void restore_answers();
  void begin_deal();
  std::optional<std::size_t> next_run();
  bool is_delivered(std::size_t run_index) const;
  const Plan& plan_of(std::size_t run_index) const;
  void replay(std::string_view line, const std::string& where);
  void take(EndedRound round);
  void end(ActiveRun& run, nlohmann::json answer);
  void restore_end(ActiveRun& run, const nlohmann::json& answer, const std::string& where);
  PossibleRuns possible_runs() const;
  ActiveRun& active_run(std::size_t run_index);
  void keep(std::size_t run_index, ActiveRun& run);
  void remark_once();
  void force_what_ended();
  nlohmann::json checkpoint_state();
  void write_checkpoint();
  std::size_t runs() const { return settings_.prompts.size() * settings_.samples; }
  void report();

  LanguageModel& model_;
  std::vector<DrawDevice> devices_;
  const SamplingSettings& settings_;
  const TokenText& text_;
  RunFolder* folder_;
  JobWatcher watcher_;
  DrawSettings draw_;
  std::vector<Prompt> numbered_;  ///< the prompts as they are drawn from
  PromptPlans plans_;
  RunReport report_;                    ///< of the answers that are delivered
  Deal* deal_;                          ///< of a shard
  std::vector<std::size_t> delivered_;  ///< of a shard: the runs that earlier processes delivered
  std::vector<bool> is_delivered_;      ///< and whether a run is one of them
  std::size_t next_ =
      0;  ///< how many answers had been delivered; then, of a whole job, the next run to draw
  std::map<std::size_t, ActiveRun> active_runs_;
  std::uint64_t decode_tokens_ = 0;  ///< those of this process's events
  ReportClock report_clock_;

  double checkpoint_seconds_;
  double saved_at_ = 0.0;   ///< when the last checkpoint was written
  double forced_at_ = 0.0;  ///< when it, or the journal after it, was forced to the disk
  double pause_ = 0.0;      ///< how long to wait after the checkpoint
  bool has_remarked_ = false;
  bool has_unsaved_ = false;  ///< whether a round has ended since

  SessionTotals totals_;
  double began_ = 0.0;    ///< when drawing did
  double seconds_ = 0.0;  ///< that it has taken
  RunSpeed earlier_;      ///< of the processes that were at work in the folder before
};

/// Hands over the answers that are in a run folder, in order: of a finished run all, of a shard its
/// own.
/// @throw BadInput if one is not as tempera writes it
void for_each_answer(const RunFolder& folder, const SamplingSettings& settings,
                     const std::function<void(const SampledAnswer&)>& take);

}  // namespace tempera::gpu
