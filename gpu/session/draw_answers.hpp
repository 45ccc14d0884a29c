#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/session/prompt.hpp"
#include "gpu/sampler/parallel_power_tempering.hpp"

namespace tempera::gpu {

/// A sampler: Algorithm 1, or one of those that it is compared with (named_sampler.hpp).
using Sampler = Task (*)(Run&, const Plan&, Progress&, Observer*);

/// What is drawn from each prompt, and how the work is laid out, which changes no answer.
struct DrawSettings {
  Ladder ladder;
  Plan plan;                      ///< of prompts without a horizon of their own
  std::vector<TokenId> terminal;  ///< E
  std::uint64_t seed = 0;
  std::size_t samples = 1;  ///< answers to each prompt, at most addressable_samples
  std::size_t first = 0;    ///< the place to begin at; those before it are drawn already
  /// How many runs are under way at once. A run holds a cache for each of its replicas, K caches of
  /// prompt and horizon, so this bounds the memory; more than largest_batch / K of them keep the
  /// batches full.
  std::size_t in_flight = 64;
  std::size_t largest_batch = 64;  ///< the most texts of a forward pass
  WorkOrder order = WorkOrder::first_come;
  /// Whether proposals end as soon as their rejection is certain; it changes no answer.
  bool early_rejection = false;
  /// The most bytes that caches may take up, by cache_bytes_of_run; 0 for no limit.
  std::size_t cache_memory = 0;
  std::uint8_t pilot = 0;  ///< as Run::pilot
  /// As Run::prefetch: it changes no answer and no event. The caches of proposals that can be ahead
  /// count in cache_memory.
  std::size_t prefetch = 0;
  /// Whether records have a confidence; it changes no answer.
  bool confidence = false;
};

/// One answer: the record at the output rung, or the one that the sampler chose.
struct Answer {
  std::vector<TokenId> tokens;
  double log_p0 = 0.0;
  bool terminated = false;
};

/// A run between two rounds as a checkpoint keeps it: the records by their tokens and the bits of
/// their log p0.
struct SavedProgress {
  std::size_t stage = 0;
  bool extended = false;
  std::size_t round = 0;
  std::size_t local_moves = 0;
  std::size_t sweeps = 0;
  std::size_t resampled = 0;
  std::vector<std::vector<TokenId>> replicas;
  std::vector<std::uint64_t> log_p0;
  std::string where;  ///< what to name if the model no longer gives these records
};

SavedProgress saved(const Progress& progress, std::string where);
/// How far it is, without its records.
Progress position_of(const SavedProgress& saved);

/// What a process has drawn so far.
struct DrawTotals {
  std::uint64_t decode_tokens = 0;  ///< those that were drawn ahead in vain included
  std::uint64_t batches = 0;        ///< forward passes
  EngineTimes times;
};

/// Is told what becomes of the runs. A run's place is prompt · samples + sample. What it throws
/// ends all runs.
class DrawObserver {
 public:
  virtual ~DrawObserver() = default;
  /// The answer of a run that ended in an earlier process, or nothing.
  virtual std::optional<Answer> ended_before(std::size_t /*place*/) { return std::nullopt; }
  /// Where an earlier process left the run, or nothing for a run that begins.
  virtual std::optional<SavedProgress> begun_before(std::size_t /*place*/) { return std::nullopt; }
  /// Before each forward pass.
  virtual void before_batch(const DrawTotals& /*so_far*/) {}
  /// After every block extension and every round; runs take turns in any order.
  virtual void advanced(std::size_t /*place*/, const Progress&, std::span<const Event>) {}
  /// A run has come to its end; in any order.
  virtual void ended(std::size_t /*place*/, const Progress&) {}
  /// The answers, in the order of their places, each as soon as all before it are there.
  virtual void drawn(std::size_t /*place*/, const Answer&) {}
};

/// Draws `settings.samples` answers to each prompt through one engine. Every prompt is computed
/// once, for all its samples and replicas. Memory is flat: at most `in_flight` runs are under way,
/// and at most four times as many have begun without their answer having left.
///
/// An answer is a function of model, settings, seed, the prompt with its number, and the sample:
/// never of the other prompts and samples, nor of the layout of the work.
/// @throw BadInput for more samples than addressable_samples, as cut_at, if a run does not fit the
/// cache memory alone, or if the model no longer gives the records that an earlier process left
/// @throw whatever model, sampler and observer throw
DrawTotals draw_answers(LanguageModel& model, std::span<const Prompt> prompts, Sampler sampler,
                        const DrawSettings& settings, DrawObserver& observer);

}  // namespace tempera::gpu
