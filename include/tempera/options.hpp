#pragma once

/// @file
/// What can be said of a sampler, and of how its work is laid out.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tempera {

/// The communication schedule of one sweep (`eq:ord-up`, `eq:ord-down` for adj).
enum class SwapSchedule : std::uint8_t {
  adj,  ///< ordered: edges 1, …, K − 1, each acting on the result of the one before
  deo,  ///< deterministic even–odd: one parity layer a sweep, odd edges first
};

/// Which sampler draws, and its settings. What is left open takes the preset's value, if a preset
/// is named, or else the default. Symbols are those of Algorithm 1 (`alg:PPT`).
struct SamplerOptions {
  std::optional<std::string> preset = {};  ///< a row of the paper's tables, such as "qwen3/math500"
  /// "ppt"; with a temperature "low-temperature". docs/reference/samplers.md lists all.
  std::optional<std::string> sampler = {};
  /// α_1 < … < α_K of the ladder (`eq:theory-product-target`); 1, 2, 4. A sampler of one power
  /// takes the last of them, best-of-n 1.
  std::optional<std::vector<double>> powers = {};
  /// t > 0 of tokenwise sampling (`eq:proposal`): one power 1/t. Refused beside powers and for
  /// other samplers.
  std::optional<double> temperature = {};
  std::optional<std::size_t> horizon = {};  ///< T, the most tokens of an answer; 64
  /// B, by which the stages' horizons grow (`eq:theory-stage-targets`); T/4.
  std::optional<std::size_t> block = {};
  std::optional<std::vector<std::size_t>> rounds =
      {};  ///< N_m: one for all stages or each its own; 4
  std::optional<std::vector<std::size_t>> local_moves = {};  ///< n_local,m, likewise; 1
  std::optional<std::vector<std::size_t>> sweeps = {};       ///< n_sweep,m, likewise; 1
  std::optional<SwapSchedule> schedule = {};                 ///< adj
  /// ω, by which a local move draws where it restarts (`eq:fixed-horizon-proposal`); uniform.
  std::optional<std::vector<std::uint64_t>> restart_weights = {};
  std::optional<std::size_t> output_rung = {};  ///< k*, from 1; the last
  std::optional<std::size_t> particles = {};    ///< N of best-of-n and power-smc; 8
  /// The most tokens that the proposals of one answer of exact-rejection may take; any number.
  std::optional<std::size_t> most_tokens = {};
};

/// How the moves of a sample are computed, which changes no answer, record or acceptance.
struct MoveOptions {
  /// Whether local moves at powers >= 1 end their proposal as soon as its rejection is certain.
  bool early_rejection = false;
  /// How many local moves of each rung may begin ahead of the one whose turn it is, also those of
  /// later rounds of the stage. Their proposals are drawn in the rows that batches have left.
  std::size_t prefetch = 0;
};

/// How each token of a tokenwise sampler is drawn: changes of its row of logits, in this order.
/// They make another law of each token, which no power of whole answers has; other samplers refuse
/// them.
struct TokenOptions {
  /// r: the logit of a token that the prompt or the answer has becomes ℓ / r if it is above 0, else
  /// ℓ r. 1: none. @pre 0 < r <= 10
  double repetition_penalty = 1.0;
  double frequency_penalty = 0.0;  ///< taken from ℓ for each time that the answer has the token
  double presence_penalty = 0.0;   ///< taken from ℓ once if the answer has the token
  std::size_t min_tokens = 0;      ///< no terminal token is drawn before this many others
  bool ignore_eos = false;         ///< no terminal token is drawn: the horizon ends the answer
  std::size_t top_k = 0;  ///< the k likeliest tokens alone, with all that tie with the last; 0: all
  double min_p = 0.0;     ///< tokens of at least this many times the likeliest one's probability
  double top_p = 1.0;     ///< the fewest likeliest tokens that have this probability together

  /// True if all are equal.
  friend bool operator==(const TokenOptions&, const TokenOptions&) = default;
};

/// How a session lays out its work, which changes no bit of any answer.
struct SessionOptions {
  std::size_t largest_batch = 64;  ///< the most records of one forward pass. @pre >= 1
  /// How many samples are under way at once. One holds a cache for each of its K replicas, so this
  /// bounds the memory; more than largest_batch / K of them keep the batches full. @pre >= 1
  std::size_t in_flight = 64;
  /// The most bytes of keys and values; 0: half of the memory that is free on the device.
  std::size_t cache_memory = 0;
};

}  // namespace tempera
