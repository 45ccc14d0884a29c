#pragma once

/// @file
/// Drawing answers from p0(x)^α: requests, sessions, answers.

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

namespace tempera {

/// The order of swaps in a sweep: all edges one after another (`adj`), or the odd and the even ones
/// in turn (`deo`).
enum class SwapSchedule : std::uint8_t { adj, deo };

/// A prompt: a text, tokens, or a conversation.
using Prompt = std::variant<std::string, std::vector<TokenId>, std::vector<Message>>;

/// Which sampler draws, and its settings. What is left open takes the preset's value, if a preset
/// is named, or else the default. Symbols are those of Algorithm 1.
struct SamplerOptions {
  std::optional<std::string> preset = {};  ///< a row of the paper's tables, such as "qwen3/math500"
  std::optional<std::string> sampler = {};  ///< "ppt" if none is named; docs/samplers.md lists all
  std::optional<std::vector<double>> powers = {};  ///< α_1 < … < α_K; 1, 2, 4
  std::optional<double> temperature = {};          ///< of tokenwise sampling: one power 1/t
  std::optional<std::size_t> horizon = {};         ///< T, the most tokens of an answer; 64
  std::optional<std::size_t> block = {};           ///< B, by which stages grow; T/4
  std::optional<std::vector<std::size_t>> rounds =
      {};  ///< N_m: one for all stages or each its own; 4
  std::optional<std::vector<std::size_t>> local_moves = {};        ///< n_local,m; 1
  std::optional<std::vector<std::size_t>> sweeps = {};             ///< n_sweep,m; 1
  std::optional<SwapSchedule> schedule = {};                       ///< adj
  std::optional<std::vector<std::uint64_t>> restart_weights = {};  ///< ω; uniform
  std::optional<std::size_t> output_rung = {};                     ///< k*, from 1; the last
  std::optional<std::size_t> particles = {};  ///< N of best-of-n and power-smc; 8
};

/// One request: what is drawn, how often, and by which seed.
struct SampleRequest {
  Prompt prompt = {};           ///< what is answered
  SamplerOptions sampler = {};  ///< how
  std::size_t samples = 1;      ///< independent answers
  std::uint64_t seed = 0;       ///< the same seed gives the same bits
  /// What tells this prompt's draws from those of other prompts under the same seed. None: 0.
  std::optional<std::string> id = {};
  std::vector<std::string> stop = {};  ///< an answer is cut before the first of these texts
  std::optional<bool> thinking = {};   ///< of a conversation, if the model's family leaves it open
  bool early_rejection = false;        ///< changes no answer
  std::size_t prefetch = 0;            ///< changes no answer
};

/// How often something was proposed, and how often it was accepted.
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
  /// A block extension (round 0) or a round of a stage (from 0) has ended.
  virtual void round_ended(RequestId /*request*/, std::size_t /*sample*/, std::size_t /*stage*/,
                           std::size_t /*round*/) {}
  /// The sample's answer is there.
  virtual void answered(RequestId request, std::size_t sample, const Answer& answer) = 0;
  /// This sample has no answer: the model gave no number for it (ModelError). Nothing else is
  /// affected.
  virtual void failed(RequestId request, std::size_t sample, const std::exception_ptr& why) = 0;
};

/// How a session lays out its work, which changes no bit of any answer.
struct SessionOptions {
  std::size_t largest_batch = 64;  ///< the most records of one forward pass. @pre >= 1
  std::size_t in_flight = 64;      ///< the most samples that are drawn at once. @pre >= 1
  /// The most bytes of keys and values; 0: half of the memory that is free on the device.
  std::size_t cache_memory = 0;
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
/// device or process. A session belongs to one thread.
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
  /// @throw DeviceError, and what a listener throws
  bool step();
  /// What it has done so far.
  Report report() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

/// Draws all answers to one request, in the order of the samples.
/// @throw BadInput and DeviceError as Session; ModelError for a model that gives no numbers
std::vector<Answer> sample(const Model& model, const SampleRequest& request);

}  // namespace tempera
