#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/core/engine/fair_queue.hpp"
#include "gpu/core/model/language_model.hpp"
#include "gpu/core/sampler/chain_options.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/stages.hpp"
#include "gpu/session/prompt_number.hpp"

namespace tempera::gpu {

/// One request to a Session: all that its answers depend on, beside the model and its arithmetic.
/// resolve() (resolve.hpp) makes one from what a user wishes; a program may also fill it by hand.
///
/// Sample s of a request is a function of model, arithmetic, prompt, number, sampler, ladder, plan,
/// terminal tokens, stop strings, TokenOptions, seed and s. The other `options` change no answer.
struct SampleRequest {
  Ladder ladder = Ladder({1.0});       ///< α_1 < … < α_K
  Plan plan = {};                      ///< stages T_m with their rounds, k*, particles, restart law
  std::vector<TokenId> terminal = {};  ///< E, the tokens that end a record
  std::vector<TokenId> prompt = {};    ///< may be empty if the model accepts that
  /// What tells the draws of this prompt from those of every other under the same seed. Requests
  /// that share seed, number and sample draw with the same words.
  PromptNumber number = {};
  SamplerFunction sampler = parallel_power_tempering;
  std::uint64_t seed = 0;
  std::size_t first_sample = 0;  ///< number of the first sample; part of its draws' addresses
  /// How many independent answers. @pre first_sample + samples <= addressable_samples
  std::size_t samples = 1;
  /// An answer ends before the first of these texts that it contains. They are no terminal tokens:
  /// the sampler's target stays p0^α over whole records, and the answer that it has drawn is cut. A
  /// tokenwise sampler draws nothing after the token that completes one. @pre none is empty
  std::vector<std::string> stop = {};
  ChainOptions options = {};  ///< how the runs are drawn: only its TokenOptions change an answer
  std::uint8_t pilot = 0;     ///< as Chain::pilot
  /// The share of rows and memory that it uses, which changes no answer. Requests without a share
  /// of their own have one together.
  Share share = {};
};

/// How often something was proposed, and how often it was accepted.
struct AcceptanceCounts {
  std::uint64_t proposed = 0;
  std::uint64_t accepted = 0;
  /// accepted / proposed; 0 if nothing was proposed
  double rate() const {
    return proposed == 0 ? 0.0 : static_cast<double>(accepted) / static_cast<double>(proposed);
  }
};

/// One answer: the record at the output rung, or the one that the sampler chose when it ended.
struct Answer {
  /// x_1 … x_n, a terminal token included; up to the token that completes a stop string.
  std::vector<TokenId> tokens;
  /// log p0(x_1 … x_n | prompt) = Σ_t log p0(x_t | x_<t), natural logarithm.
  double log_p0 = 0.0;
  bool terminated = false;  ///< whether the last token is a terminal one
  bool stopped = false;     ///< whether a stop string ended it
  /// What people read: the text of the tokens without the terminal one, up to a stop string. Empty
  /// if the session has no text.
  std::string text = {};
  /// log p0 of the whole record of each rung (or particle) when the sampler ended.
  std::vector<double> log_p0_of_records = {};
  std::vector<AcceptanceCounts> moves =
      {};  ///< local moves of each rung (proposed: those with r <= τ)
  std::vector<AcceptanceCounts> swaps = {};  ///< swaps of rungs k and k + 1, for each k < K
  /// Tokens that were drawn for it, without those that were prefetched and not used. An answer
  /// that was resumed counts only what was drawn since.
  std::uint64_t decode_tokens = 0;

  /// Whether the horizon cut it: neither a terminal token nor a stop string came before.
  bool is_cut() const { return !terminated && !stopped; }
};

}  // namespace tempera::gpu
