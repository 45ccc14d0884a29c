#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/engine/engine.hpp"
#include "gpu/transformer/model_shapes.hpp"

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

/// What a row of `tempera bench paper` has measured.
struct MeasuredRuntime {
  std::size_t rungs = 0;
  std::size_t problems = 0;         ///< side by side
  bool early_rejection = false;     ///< whether proposals stop as soon as they are rejected
  std::uint64_t decode_tokens = 0;  ///< of all problems
  double prompt_seconds = 0.0;      ///< of computing all prompts, before anything is drawn
  double seconds = 0.0;             ///< of all that is drawn, swaps included
  std::uint64_t budget = 0;         ///< expected decode tokens of a problem
  bool complete = false;            ///< whether the problems came to their ends
  std::size_t longest = 0;          ///< tokens of the longest record that was reached
  double sweep_seconds = 0.0;       ///< of one sweep of a problem's replicas
  std::size_t sweeps = 0;           ///< of a problem
  std::size_t cache_bytes = 0;      ///< most memory of keys and values of all problems
  EngineTimes times;                ///< parts of `seconds`
  std::uint64_t graph_replays = 0;  ///< steps of CUDA kernels, each one graph; 0 on a host

  double tokens_per_second() const { return static_cast<double>(decode_tokens) / seconds; }
  /// The seconds of a problem's budget, measured if the runs are complete, else at the rate that
  /// was.
  double seconds_per_problem() const {
    const auto side_by_side = static_cast<double>(problems);
    return complete ? seconds / side_by_side : static_cast<double>(budget) / tokens_per_second();
  }
  double swap_seconds_per_problem() const { return sweep_seconds * static_cast<double>(sweeps); }
};

/// How many problems of K rungs fill a batch of 64 rows and fit the device's memory, at least 1.
///
/// A problem holds its prompt once, and a record and a proposal of each rung.
std::size_t problems_that_fit(const Transformer& model, const PaperSettings& settings,
                              std::size_t rungs);

/// Runs `problems` problems of a row side by side through one engine, to their ends or until
/// `most_seconds` have gone (0: to their ends).
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
