#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/session/prompt.hpp"
#include "gpu/session/session.hpp"

namespace tempera::gpu {

/// The wishes of each prompt, and of the session that draws its answers. The fields of the
/// request that are a prompt's own (tokens, number, sampler, first sample) are filled in for each;
/// its plan is that of prompts without a horizon of their own.
struct DrawSettings : SampleRequest, SessionOptions {
  DrawSettings(Ladder its_ladder, Plan its_plan, std::vector<TokenId> its_terminal)
      : SampleRequest{std::move(its_ladder), std::move(its_plan), std::move(its_terminal)} {}
  /// Gives the indices of the runs to draw, one after the other, until there is none; without it
  /// all are drawn.
  std::function<std::optional<std::size_t>()> next_run = {};
  /// Told that a device is lost, and why, if others are left. They go on with its runs, from where
  /// begun_before says that each was.
  std::function<void(const std::string& name, const std::string& why)> device_lost = {};
};

/// One of several devices: the one that its model computes on.
struct DrawDevice {
  std::string name;      ///< "cuda:1"
  LanguageModel* model;  ///< the same on all; no two share memory that they write to
};

/// The listener of all runs, which is also asked where each begins. The request that it hears of is
/// the run's index, prompt · samples + sample. What it throws ends all runs. Calls come one at a
/// time; those of several devices come from the thread of each.
class DrawListener : public Listener {
 public:
  /// The answer of a run that ended in an earlier process, or nothing.
  virtual std::optional<Answer> ended_before(std::size_t /*run_index*/) { return std::nullopt; }
  /// Where an earlier process left the run, or nothing for a run that begins.
  virtual std::optional<SavedProgress> begun_before(std::size_t /*run_index*/) {
    return std::nullopt;
  }
  /// Before each forward pass.
  virtual void before_batch(const SessionTotals& /*so_far*/) {}
  void answered(RequestId /*run_index*/, std::size_t /*sample*/, const Answer&) override {}
  /// Nothing is told here: draw_answers ends all runs, and throws it.
  void failed(RequestId /*run_index*/, std::size_t /*sample*/,
              const std::exception_ptr& /*why*/) final {}
  /// The answers, in the order in which their runs were taken (without next_run that of the
  /// indices), each as soon as all before it are there.
  virtual void drawn(std::size_t /*run_index*/, const Answer&) {}
};

/// Draws `settings.samples` answers to each prompt through one session, or those that next_run
/// names, and delivers them in order.
/// Every prompt is computed once, for all its samples and replicas. Memory is flat: at most
/// `in_flight` runs are under way, and at most four times as many have begun without their answer
/// having been delivered.
///
/// An answer is a function of model, settings, seed, the prompt with its number, and the sample:
/// never of the other prompts and samples, nor of the layout of the work.
/// @throw BadInput for more samples than addressable_samples, as cut_at, if a run does not fit the
/// cache memory alone, or if the model no longer gives the records that an earlier process left
/// text: of the model, if answers end at stop strings.
/// @throw whatever model, sampler and listener throw
SessionTotals draw_answers(LanguageModel& model, std::span<const Prompt> prompts,
                           SamplerFunction sampler, const DrawSettings& settings,
                           DrawListener& listener, const TokenText* text = nullptr);

/// The same by several devices: a session each, in a thread of its own, over one queue of runs.
/// The answers, and what the listener is told of each run, are those of one device. `in_flight`
/// and `largest_batch` are each device's.
///
/// If a device is lost, the others go on with its runs; the loss of the last one is thrown.
/// @throw DeviceError if no device is left; else as above
SessionTotals draw_answers(std::span<const DrawDevice> devices, std::span<const Prompt> prompts,
                           SamplerFunction sampler, const DrawSettings& settings,
                           DrawListener& listener, const TokenText* text = nullptr);

}  // namespace tempera::gpu
