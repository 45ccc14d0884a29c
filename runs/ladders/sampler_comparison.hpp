#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/core/statistics/sampling_progress.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "runs/ladders/resolve_comparison.hpp"

namespace tempera::gpu {

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

/// @throw BadInput naming the problems' file and the number of the first whose prompt the model
/// cannot take, or whose answer it cannot hold
void check_problems(const OpenedModel& model, const ComparisonSettings& settings);

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

/// Runs the contestants, one after the other, each on all problems at once.
std::vector<ComparisonRow> compare_samplers(const OpenedModel& model,
                                            const ComparisonSettings& settings,
                                            const ComparisonWatcher& watcher = {});

}  // namespace tempera::gpu
