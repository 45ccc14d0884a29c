#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "gpu/core/sampler/event.hpp"
#include "gpu/core/statistics/sampling_progress.hpp"
#include "gpu/llm/text/token_text.hpp"
#include "runs/job.hpp"
#include "settings/sampling_settings.hpp"

namespace tempera::gpu {

struct Progress;

/// A figure of a run that has not been drawn, with the limits between which it is in 95 % of
/// cases.
struct Expectation {
  double expected = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// How long a pilot draws by default: seconds.
inline constexpr double pilot_seconds = 20.0;

/// The cost of a run as its pilot tells it. The pilot draws some of the run's own answers, with the
/// run's own words, over all its prompts and with as many under way as the run has.
struct RunEstimate {
  std::size_t answers = 0;           ///< of the run
  std::size_t begun = 0;             ///< of them, by the pilot
  std::size_t ended = 0;             ///< of these, in the pilot
  std::uint64_t pilot_tokens = 0;    ///< that the pilot drew
  double pilot_seconds = 0.0;        ///< that it took
  Expectation decode_tokens;         ///< what summary.json will call decode_tokens
  Expectation seconds;               ///< of drawing, at the pilot's speed
  Expectation cache_bytes;           ///< the most that keys and values take at once
  std::uint64_t resident_bytes = 0;  ///< the most memory of this process so far, the model's too
  /// True if no step of some kind (a block's extension, a round) ended in the pilot: then its
  /// expectation is a guess, and the upper limit what the plan allows at most.
  bool is_guess = false;

  nlohmann::ordered_json to_json() const;
};

/// The tokens of what has ended of an answer, by stage.
struct SeenAnswer {
  struct Steps {
    std::optional<double> extension;
    std::vector<double> rounds;
  };
  std::vector<Steps> stages = {};
  bool has_ended = false;

  double tokens() const;
};

/// All that a pilot has seen.
struct PilotTally {
  std::map<std::size_t, SeenAnswer> answers = {};  ///< with a step that has ended
  std::vector<std::size_t> order = {};             ///< in which they began
  std::uint64_t drawn = 0;                         ///< tokens, of steps that have not ended too
  double seconds = 0.0;                            ///< that it took
  bool is_cut = false;                             ///< whether its time ended it
  double speed = 0.0;  ///< tokens a second while as many answers are under way as in the run
  /// Stages that had begun while so many answers were under way; 0: as `answers` says.
  std::size_t reached = 0;
  double speed_error = 0.0;  ///< its standard error; 0 if nothing tells it

  void round_ended(std::size_t run, const Progress& progress, std::span<const Event> events);
};

/// The run that a pilot is of.
struct PilotedRun {
  std::size_t answers = 0;
  const SampleRequest& request;  ///< its ladder, and the plan of prompts without one of their own
  std::function<const Plan&(std::size_t run)> plan_of;
  std::vector<std::size_t> prompt_lengths;  ///< in tokens
  std::size_t under_way = 0;                ///< the most answers at once
  std::size_t cache_memory = 0;             ///< the most bytes of caches; 0: no limit
};

/// The estimate of a run by its pilot. @pre something was drawn
RunEstimate estimate_of(PilotTally tally, const PilotedRun& run, const LanguageModel& model);

/// Draws a pilot of about `seconds` and estimates what the whole run will take. If the pilot comes
/// to the end of the run the tokens are exact.
///
/// How the figures come about. Let n of R answers have begun, answer i take c_i tokens, those of
/// steps to come being the mean of such steps in the pilot, and s be the deviation of the c_i. Then
/// Σ c is R c̄ with the variance R (R − n) s²/n of the answers not seen (0 for n = R),
/// and that of the q rounds to come of those seen: q² V/N + q v for N rounds of variance v, where V
/// = v (1 + ρ)/(1 − ρ) for the correlation ρ of a round with the next. Samplers without rounds
/// whose answers have not all ended get the tokens of all by the number k that ended, with χ²
/// limits, for a time limit favours short answers.
/// @throw BadInput as draw_answers, so for an answer of exact rejection that its limit ends
RunEstimate estimate_run(LanguageModel& model, const SamplingSettings& settings,
                         const TokenText& text, const SessionOptions& session, double seconds,
                         const std::function<void(const SamplingProgress&)>& progress = {});

}  // namespace tempera::gpu
