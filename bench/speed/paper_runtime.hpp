#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/core/engine/engine.hpp"
#include "gpu/llm/transformer/model_shapes.hpp"

namespace tempera::gpu {

/// A row of the paper's runtime table (`tab:time-memory-main`): Qwen3-8B on LiveCodeBench v5, per
/// problem, on an H100.
struct PaperRuntime {
  std::vector<double> powers;          ///< of the rungs (`tab:ppt-hyperparams-qwen3-4b`)
  double local_update_seconds = 0.0;   ///< of block extensions and local moves
  std::optional<double> swap_seconds;  ///< of swaps; a single chain has none
  double cache_gibibytes = 0.0;        ///< most memory of keys and values
  std::uint64_t decode_tokens = 0;     ///< (`tab:compute-matched-single-chain`)
};

/// K = 1 at the highest power, and K = 4.
std::span<const PaperRuntime> paper_runtimes();

/// What a run of the table is made of, whatever the shape of the model.
struct PaperSettings {
  std::size_t horizon = 8192;  ///< T
  std::size_t block = 2048;    ///< B
  /// Tokens of a prompt; the paper does not say how many.
  std::size_t prompt = 512;
  std::uint64_t seed = 1;
};

/// The settings at a share of their lengths: for shapes that are no model.
PaperSettings shortened(const PaperSettings& settings, std::size_t by);

/// Rounds of each stage whose expected decode tokens come nearest to `decode_tokens`: as many in
/// each, and one more in the first ones. No token of random weights ends a record, so that every
/// move regenerates half of its horizon in the mean.
std::vector<std::size_t> rounds_for(const PaperSettings& settings, std::size_t rungs,
                                    std::uint64_t decode_tokens);

/// What a model was asked for while it was timed.
struct Decoded {
  std::uint64_t tokens = 0;  ///< decode tokens of all problems
  std::uint64_t steps = 0;   ///< passes of the model
  std::uint64_t positions =
      0;                 ///< sum of the tokens' places in their texts, from 1, prompts included
  double seconds = 0.0;  ///< of all that is drawn, swaps included

  double tokens_per_second() const { return static_cast<double>(tokens) / seconds; }
  double mean_position() const {
    return static_cast<double>(positions) / static_cast<double>(tokens);
  }
  /// Bytes of weights and of the keys and values that the tokens attended to.
  double bytes(std::uint64_t weight_bytes, std::uint64_t token_bytes) const {
    return static_cast<double>(steps) * static_cast<double>(weight_bytes) +
           static_cast<double>(positions - tokens) * static_cast<double>(token_bytes);
  }
  double rows_of_a_step() const { return static_cast<double>(tokens) / static_cast<double>(steps); }
  Decoded& operator+=(const Decoded& other);
};

/// The decode tokens that a problem is expected to draw.
struct ExpectedTokens {
  double tokens = 0.0;
  double positions = 0.0;  ///< sum of their places in the text, from 1, the prompt included

  double mean_position() const { return positions / tokens; }
  /// Bytes that so many tokens in each step read at least: weights once a step, and keys and
  /// values.
  double least_bytes(std::size_t rows, std::uint64_t weight_bytes,
                     std::uint64_t token_bytes) const {
    return tokens / static_cast<double>(rows) * static_cast<double>(weight_bytes) +
           (positions - tokens) * static_cast<double>(token_bytes);
  }
  ExpectedTokens& operator+=(const ExpectedTokens& other);
};

/// The expected tokens of a problem in one part of a stage. Restart positions are uniform, and no
/// token ends a record: the token at place x of a record of T_m is drawn by a move with probability
/// x / T_m.
ExpectedTokens expected_of_part(const PaperSettings& settings, std::size_t rungs, std::size_t stage,
                                bool is_extension, std::size_t rounds);

/// A stage's block extension, or its local moves, of a row that was not run to its end.
struct MeasuredPart {
  std::size_t stage = 0;  ///< from 0
  bool is_extension = false;
  ExpectedTokens expected;  ///< of a problem
  Decoded decoded;
  /// Whether the extension came to its end, or each problem to that of a round which began with
  /// uniform restarts.
  bool is_whole = false;
};

/// What a row of `tempera bench paper` has measured.
struct MeasuredRuntime {
  std::size_t rungs = 0;
  std::size_t problems = 0;      ///< side by side
  bool early_rejection = false;  ///< whether proposals stop as soon as they are rejected
  Decoded decoded;
  double prompt_seconds = 0.0;  ///< of computing all prompts, before anything is drawn
  ExpectedTokens expected;      ///< of a problem
  bool complete = false;  ///< whether the problems were run from their beginning to their ends
  std::vector<MeasuredPart> parts;      ///< in order; empty if complete
  std::size_t longest = 0;              ///< tokens of the longest record that was reached
  double sweep_seconds = 0.0;           ///< of one sweep of a problem's replicas
  std::size_t sweeps = 0;               ///< of a problem
  std::size_t cache_bytes = 0;          ///< most memory of keys and values of all problems
  std::uint64_t recomputed_tokens = 0;  ///< dropped for want of memory, and computed again
  EngineTimes times;                    ///< parts of `decoded.seconds`
  std::uint64_t graph_replays = 0;      ///< steps of CUDA kernels, each one graph; 0 on a host

  double tokens_per_second() const { return decoded.tokens_per_second(); }
  /// The seconds of a problem: those of the whole run, else of each part's expected tokens at the
  /// rate of that part. Nothing if a part was cut off before it was whole.
  std::optional<double> seconds_per_problem() const;
  double swap_seconds_per_problem() const { return sweep_seconds * static_cast<double>(sweeps); }
};

/// How many problems of K rungs fill a batch of 256 rows and fit the device's memory, at least 1.
///
/// A problem holds its prompt once, and a record of each rung: while a proposal is drawn, the
/// suffix that it is to replace can be dropped.
std::size_t problems_that_fit(const Transformer& model, const PaperSettings& settings,
                              std::size_t rungs);

/// Runs `problems` problems of a row side by side through one engine: to their ends if
/// `most_seconds` is 0, else each part of each stage for its share of that time.
///
/// A part begins with records of the length that they have there, whose pages are held and not
/// computed, and whose tokens have scores that the model has given others. What is in flight then
/// is what a run of many moves has in flight: the first move of each record restarts at a position
/// with a probability in proportion to it, all later ones uniformly. Rungs wait for each other at
/// the end of a round, which a part that is not whole has not seen.
/// @throw BadInput if the device's memory has no room for them
/// @throw Bug if the kernels are CUDA's and a step was no graph
MeasuredRuntime measure_runtime(Transformer& model, const PaperRuntime& row,
                                const PaperSettings& settings, std::size_t problems,
                                double most_seconds, bool early_rejection = false);

/// The shape by its name, with the weights of FilledTensors.
/// @throw BadInput for an unknown shape, and for one whose weights do not fit the device's memory:
/// naming those that do
std::unique_ptr<Transformer> model_of_shape(const std::string& name, Arithmetic arithmetic);

}  // namespace tempera::gpu
