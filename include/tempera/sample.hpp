#pragma once

/// @file
/// Drawing answers from p0(x)^α (`eq:theory-power-target`): requests, sessions, answers.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tempera/model.hpp"
#include "tempera/options.hpp"

namespace tempera {

/// A prompt: a text, tokens, or a conversation.
using Prompt = std::variant<std::string, std::vector<TokenId>, std::vector<Message>>;

/// One request: what is drawn, how often, and by which seed.
struct SampleRequest {
  Prompt prompt = {};           ///< what is answered
  SamplerOptions sampler = {};  ///< how
  std::size_t samples = 1;      ///< independent answers
  std::uint64_t seed = 0;       ///< the same seed gives the same bits
  /// What tells this prompt's draws from those of other prompts under the same seed. None: 0.
  std::optional<std::string> id = {};
  std::vector<std::string> stop = {};  ///< an answer is cut before the first of these texts
  std::optional<bool> thinking = {};   ///< of a conversation: "enable_thinking" of the arguments
  /// The variables of a conversation's chat template: a JSON object.
  std::string chat_template_kwargs = "{}";
  MoveOptions moves = {};    ///< how its moves are computed, which changes no answer
  TokenOptions tokens = {};  ///< how a tokenwise sampler draws each token
};

/// How often a local move (`eq:local-accept`) or a swap (`eq:swap-accept-llm`) was proposed, and
/// how often it was accepted.
struct Acceptance {
  std::uint64_t proposed = 0;  ///< how often it was proposed
  std::uint64_t accepted = 0;  ///< how often of those it was accepted
};

/// One answer: the record at the output rung, or the one that the sampler chose.
struct Answer {
  std::string text = {};             ///< without the terminal token, up to a stop string
  std::vector<TokenId> tokens = {};  ///< x_1 … x_n, a terminal token included
  /// log p0(x | prompt) = Σ_t log p0(x_t | x_<t), natural logarithm (`eq:record-prob`).
  double log_p0 = 0.0;
  bool terminated = false;  ///< a terminal token ended it
  bool stopped = false;     ///< a stop string ended it; if neither did, the horizon cut it
  std::vector<double> log_p0_of_rungs = {};  ///< of the record of each rung when the sampler ended
  std::vector<Acceptance> local_moves = {};  ///< by rung
  std::vector<Acceptance> swaps = {};        ///< of rungs k and k + 1
  std::uint64_t decode_tokens = 0;           ///< tokens drawn for it, also for proposals
};

/// Names one request of one session.
using RequestId = std::uint64_t;

/// Hears what becomes of a request, from inside Session::step(). It may submit and cancel requests,
/// and must not call step().
class Listener {
 public:
  virtual ~Listener() = default;
  /// A tokenwise sampler has drawn text that no later step takes back: whole characters.
  virtual void text_drawn(RequestId /*request*/, std::size_t /*sample*/,
                          std::string_view /*text*/) {}
  /// A block extension (round 0, `eq:implementation-extension`) or a round of a stage (from 0) has
  /// ended.
  virtual void round_ended(RequestId /*request*/, std::size_t /*sample*/, std::size_t /*stage*/,
                           std::size_t /*round*/) {}
  /// The sample's answer is there.
  virtual void answered(RequestId request, std::size_t sample, const Answer& answer) = 0;
  /// This sample has no answer: the model gave no number for it (ModelError). Nothing else is
  /// affected.
  virtual void failed(RequestId request, std::size_t sample, const std::exception_ptr& why) = 0;
};

/// What a session has done so far.
struct Report {
  std::uint64_t decode_tokens = 0;  ///< tokens drawn, those that were not used included
  std::uint64_t batches = 0;        ///< forward passes
  double forward_seconds = 0.0;     ///< in the model
  double draw_seconds = 0.0;        ///< in draws
};

/// Draws answers for requests that come and go while it runs; all share the forward passes.
///
/// An answer depends on model, arithmetic and request alone: never on other requests, load, order,
/// device or process.
///
/// A session belongs to one thread. Sessions of one model share its memory, and so do scores of it:
/// at most one thread at a time may be in a call of any of them, or end one. On CUDA this holds for
/// all models of the process, and for opening and ending a model.
class Session {
 public:
  /// A session of a model, without any request yet.
  explicit Session(Model model, const SessionOptions& options = {});
  ~Session();
  /// Moves the requests too.
  Session(Session&&) noexcept;
  /// Drops this session's own requests.
  Session& operator=(Session&&) noexcept;

  /// Takes a request at any time; nothing is computed before the next step(). The listener must
  /// outlive the request.
  /// @throw BadInput for a request that cannot be drawn, naming what is wrong with it
  RequestId submit(const SampleRequest& request, Listener& listener);
  /// Forgets a request: its rows leave the batch before the next pass, and its listener hears
  /// nothing more. One that is unknown or has ended is ignored.
  void cancel(RequestId request);
  /// Makes one forward pass for all that wait, and lets the samplers go on.
  /// @return whether anything is left to do
  /// @throw DeviceError if the device is lost; what a listener throws passes through
  bool step();
  /// What it has done so far.
  Report report() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

/// Draws all answers to one request, in the order of the samples, by Algorithm 1 (`alg:PPT`) if the
/// request names no other sampler.
/// @throw BadInput and DeviceError as Session; ModelError for a model that gives no numbers
std::vector<Answer> sample(const Model& model, const SampleRequest& request);

}  // namespace tempera
