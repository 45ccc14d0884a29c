#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "gpu/core/sampler/event.hpp"
#include "gpu/session/sample_request.hpp"
#include "gpu/session/token_alternatives.hpp"

namespace tempera::gpu {

struct Progress;

/// Names one request of one session. No two requests of a session have the same.
using RequestId = std::uint64_t;

/// An exact answer was not drawn: no proposal was kept within the tokens that the request allows.
/// The same request ends the same way, and the message says how many tokens would do.
class NotDrawn : public BadInput {
 public:
  using BadInput::BadInput;
};

/// Hears what becomes of a request. A session calls it from inside step() alone, on the thread that
/// called step(). Samples of one request take turns in any order; the calls for one sample come in
/// the order: rounds and tokens, then `sampler_ended` and `answered`, or `failed`. After cancel()
/// none comes.
///
/// A call may submit and cancel requests, its own included, but must not call step(). What it
/// throws ends its own sample and leaves step().
class Listener {
 public:
  virtual ~Listener() = default;

  /// A block extension (progress.round is 0) or a round of this sample has ended. These are the
  /// moments at which a run can be cut and resumed (SavedProgress).
  ///
  /// progress: valid during the call. events: what happened since the last such call, sorted:
  /// extensions, local moves by turn and rung, swaps, resamplings.
  virtual void round_ended(RequestId /*request*/, std::size_t /*sample*/,
                           const Progress& /*progress*/, std::span<const Event> /*events*/) {}

  /// A tokenwise sampler (`standard`, `low-temperature`) has drawn these tokens, which no later
  /// step takes back. Other samplers never call it.
  ///
  /// text: what people read of the answer beyond what earlier calls gave: whole characters, nothing
  /// of a terminal token, and nothing that may become part of a stop string. It may be empty, and
  /// `tokens` is empty if text was held back and is now certain. All texts, one after the other,
  /// are Answer::text.
  virtual void tokens_drawn(RequestId /*request*/, std::size_t /*sample*/,
                            std::span<const TokenId> /*tokens*/, std::string_view /*text*/) {}

  /// The sampler has ended, or a stop string has ended it: all its records as they are, valid
  /// during the call. `answered` follows.
  virtual void sampler_ended(RequestId /*request*/, std::size_t /*sample*/,
                             const Progress& /*progress*/) {}

  /// The sample's answer is there.
  virtual void answered(RequestId request, std::size_t sample, const Answer& answer) = 0;

  /// The text of Session::score has its scores: index t - 2 holds position t.
  virtual void scored(RequestId /*request*/, std::span<const TokenAlternatives> /*scores*/) {}

  /// This sample has no answer: the model gave NaN or +infinity for it (ModelError), the state that
  /// it was to be resumed from is not the model's (BadInput), or NotDrawn. Nothing else is
  /// affected. A text that is scored is sample 0.
  virtual void failed(RequestId request, std::size_t sample, const std::exception_ptr& why) = 0;
};

}  // namespace tempera::gpu
