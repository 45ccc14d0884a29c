#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/models/opened_model.hpp"
#include "gpu/session/defaults.hpp"
#include "gpu/statistics/sampling_progress.hpp"

namespace tempera::gpu {

/// One problem whose answer a program can check.
struct Problem {
  std::string prompt;
  std::string answer;
};

/// What the comparison runs: comparison.json beside a model.
struct ComparisonSettings {
  std::optional<Arithmetic> arithmetic;  ///< none: float32
  std::size_t horizon = 0;
  std::size_t block = 0;
  std::vector<double> powers;  ///< of the ladder; α* is the last
  std::size_t rounds = 0;
  std::size_t local_moves = defaults::local_moves;
  std::size_t sweeps = defaults::sweeps;
  std::size_t truncating_rounds = 0;
  /// Rounds of the single chain that spends about as many decode tokens as PPT.
  std::size_t matched_rounds = 0;
};

/// One row of the comparison.
struct ComparisonRow {
  std::string sampler;
  std::size_t problems = 0;
  std::size_t solved = 0;
  std::size_t unfinished = 0;  ///< answers without a terminal token
  std::uint64_t decode_tokens = 0;
  double seconds = 0.0;

  double accuracy() const;
  /// The Wilson interval of 95 %: { p̂ + z²/2n ± z √(p̂(1−p̂)/n + z²/4n²) } / (1 + z²/n), z = 1.96.
  std::pair<double, double> interval() const;
};

/// Problems from a JSONL file of {"prompt", "answer"}.
/// @throw BadInput naming file, line and remedy
std::vector<Problem> read_problems(const std::string& file);
/// @throw BadInput naming file, what is wrong in it and the remedy
ComparisonSettings read_comparison(const std::string& file);

/// @throw BadInput naming `file` and the number of the first problem whose prompt the model
/// cannot take, or whose answer of `horizon` tokens it cannot hold
void check_problems(const OpenedModel& model, const std::vector<Problem>& problems,
                    std::size_t horizon, const std::string& file);

/// Whether an answer is right: it ends with a terminal token, and the characters after its last '='
/// are the expected ones.
bool is_solved(const OpenedModel& model, std::span<const TokenId> tokens, bool terminated,
               const std::string& answer);

/// Is told how the comparison goes on.
struct ComparisonWatcher {
  /// While a sampler runs: its name and how far it is, at most ten times a second.
  std::function<void(const std::string&, const SamplingProgress&)> progress;
  std::function<void(const ComparisonRow&)> done;  ///< after each sampler
};

/// Runs the samplers, one after the other, each on all problems at once: base sampling, tokenwise
/// temperature 1/α*, the truncating sampler, the fixed-horizon chain, the same with matched
/// compute, the ladder without swaps, and PPT.
std::vector<ComparisonRow> compare_samplers(const OpenedModel& model,
                                            const std::vector<Problem>& problems,
                                            const ComparisonSettings& settings, std::uint64_t seed,
                                            const ComparisonWatcher& watcher = {});

}  // namespace tempera::gpu
