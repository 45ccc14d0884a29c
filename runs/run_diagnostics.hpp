#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runs/chain_figures.hpp"
#include "runs/run_traces.hpp"

namespace tempera::gpu {

/// The figures of one prompt's chains at a rung. A chain is one answer, and its draws are the
/// records after the rounds of the last stage.
struct RungDiagnostics {
  std::size_t prompt = 0;  ///< index among the run's prompts
  std::size_t rung = 0;    ///< from 1
  std::size_t chains = 0;
  std::size_t draws = 0;  ///< of each chain
  ChainFigures log_p0;
  ChainFigures length;
  /// A draw is 1 if the rung holds the record that the last rung holds most often in all chains,
  /// the likeliest of those that are tied, else 0: the mean is that answer's share. Two records are
  /// the same if log p0 and length are.
  ChainFigures answer;
};

/// Collects log p0 and length of the records after the rounds of a run's last stage.
class ChainCollector {
 public:
  void take(const RoundTrace& trace);
  /// By prompt and rung. A chain with fewer draws than another of its prompt has not ended and is
  /// left out, and so is a prompt whose chains have fewer than fewest_draws.
  std::vector<RungDiagnostics> diagnose() const;

 private:
  /// [draw][rung].
  struct Chain {
    std::vector<std::vector<double>> log_p0, lengths;
  };

  std::size_t last_stage_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, Chain> chains_;  ///< by prompt and sample
};

/// The figures of a run folder; none of a sampler without rungs.
/// @throw BadInput as read_traces
std::vector<RungDiagnostics> diagnose_run(const std::filesystem::path& folder);

/// diagnostics.csv: one line for each prompt, rung and quantity: "log_p0", "length" or
/// "answer".
std::string diagnostics_csv(const SamplingSettings& settings,
                            const std::vector<RungDiagnostics>& found);

}  // namespace tempera::gpu
