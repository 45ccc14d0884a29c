#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/llm/text/token_text.hpp"
#include "gpu/session/cache_admission.hpp"
#include "gpu/session/listener.hpp"
#include "gpu/session/sample_request.hpp"
#include "gpu/session/saved_progress.hpp"
#include "gpu/session/session_options.hpp"

namespace tempera::gpu {

class OpenedModel;

/// Samples that could have begun, had there been more memory for their caches.
struct HeldBack {
  std::size_t under_way = 0;  ///< how many were under way, the first time that one had to wait
  CacheBudget budget;
};

/// "12 of 64 samples are under way at once: ...", one line for people.
std::string text_of(const HeldBack& held, std::size_t in_flight);

/// What a session has done so far.
struct SessionTotals {
  std::uint64_t decode_tokens = 0;  ///< all that were drawn, wasted prefetched ones included
  std::uint64_t batches = 0;        ///< forward passes
  EngineTimes times;
  double score = 0.0;           ///< seconds of the passes over texts that are scored
  std::size_t cache_bytes = 0;  ///< that caches of what is under way are expected to need now
  std::optional<HeldBack> held_back = {};
  std::uint64_t recomputed_tokens =
      0;  ///< that were dropped for want of memory, and computed again
};

/// Draws answers from one model on one device, for requests that come and go while it runs. Every
/// request has its own prompt, sampler, ladder, seed and horizon, and all share the forward passes.
///
/// An answer depends on model, arithmetic and request alone: never on neighbours, load, order,
/// device or process. A prompt is computed once for all samples, replicas and requests that have it
/// while one of them waits or runs.
///
/// Memory is bounded: caches never hold more than the cache memory (resolve_cache_memory); idle
/// ones are dropped for it and computed again. At most `in_flight` samples of a share are under
/// way, and as many as CacheAdmission lets begin. Samples of a share begin in the order in which
/// they were submitted, and shares have equal parts of rows, samples under way and memory: a
/// request with many samples holds up no other, and none waits for ever. A step is one pass at
/// most, and a bounded amount of work beside it (Engine::pause).
///
/// A session computes on the device of its model. A session and what it calls belong to one thread;
/// sessions of several models, on several devices, may take turns in one. Sessions of one model
/// share its pages, its buffers and its step: at most one thread at a time may be in a call of any
/// of them, or end one. On CUDA this holds for all models of a device.
/// @code
/// Session session(model);
/// session.submit(resolve(model, {.prompt = "4+7+9?", .horizon = 28}), listener);
/// while (session.step()) {}
/// @endcode
class Session {
 public:
  /// text: for Answer::text, Listener::tokens_drawn and stop strings; none: no answer has a text.
  /// model and text must outlive the session.
  /// @throw Bug for a batch of none, or none under way
  explicit Session(LanguageModel& model, const SessionOptions& options = {},
                   const TokenText* text = nullptr);
  /// @throw BadInput as make_device_row_lottery
  explicit Session(const OpenedModel& model, const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Takes a request, at any time. Nothing is computed before the next step(). The listener must
  /// outlive the request.
  /// @throw BadInput if it cannot be run: as require_room, for stop strings without a text, and if
  /// its samples are none or more than addressable_samples
  RequestId submit(SampleRequest request, Listener& listener);
  /// Takes a request of one sample that goes on where an earlier process left it.
  /// @throw BadInput as submit. If the model no longer gives the saved records, the request fails
  /// @pre request.samples == 1; saved is a state that request.plan can be in
  RequestId resume(SampleRequest request, SavedProgress saved, Listener& listener);
  /// Takes a text whose tokens after the first are to be scored, each with its likeliest
  /// alternatives. One text of each client is scored at a time, and clients take turns: a step()
  /// makes one pass for them, beside that of the samples, and with a clock as many as their part of
  /// the time allows, but at most one for each client. The listener hears `scored` or
  /// `failed`.
  /// @throw BadInput for fewer than two tokens, and for one outside the vocabulary
  RequestId score(std::vector<TokenId> tokens, std::size_t likeliest, Listener& listener,
                  const Share& share = {});
  /// Forgets a request: its rows leave the batch before the next pass, its caches are free, and its
  /// listener hears nothing more. One that has ended, or is unknown, is ignored.
  void cancel(RequestId request);

  /// Begins what may begin, makes one forward pass for all that wait, and lets the samplers go on;
  /// then makes one for a text that is to be scored.
  /// Returns whether anything is left to do.
  /// @throw what a listener, the device, or the model throws, but for failures of single rows
  bool step();

  /// @throw BadInput, naming `which`, if one sample of the request does not fit the cache memory
  /// alone, fresh or resumed
  void require_room(const SampleRequest& request, const std::string& which) const;
  SessionTotals totals() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace tempera::gpu
