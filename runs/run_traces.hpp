#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "settings/sampling_settings.hpp"

namespace tempera::gpu {

/// The state of one run after a block extension (round 0) or a round, as events.jsonl has it.
struct RoundTrace {
  std::size_t prompt = 0;  ///< index among the run's prompts
  std::size_t sample = 0;
  std::size_t stage = 0;  ///< from 1
  std::size_t round = 0;
  std::vector<std::size_t> replicas;  ///< which replica each rung holds, from 1
  std::vector<std::size_t> lengths;   ///< of each rung's record
  std::vector<double> log_p0;         ///< of each rung's record
  std::vector<double> confidence;     ///< of each rung's record; empty if it was not measured
};

/// How often something was tried and accepted.
struct AcceptanceCount {
  std::uint64_t tried = 0;
  std::uint64_t accepted = 0;
};

/// What events.jsonl of a run folder says, of all prompts and samples.
struct RunTraces {
  SamplingSettings settings;
  std::vector<AcceptanceCount> moves;  ///< proposals, by rung
  std::vector<AcceptanceCount> swaps;  ///< by edge
};

/// Reads a run folder, finished or not, without touching it; a last line that is not whole is left
/// out. Hands every round to `take`, in the order of the file.
/// @throw BadInput naming file, line and remedy
RunTraces read_traces(const std::filesystem::path& folder,
                      const std::function<void(const RoundTrace&)>& take);

/// A text as a field of a CSV file (RFC 4180).
std::string csv_field(const std::string& text);

/// The header of rounds.csv, and the lines of one round: one for each rung.
std::string rounds_csv_header();
std::string rounds_csv_lines(const SamplingSettings& settings, const RoundTrace& trace);

/// figures.csv: every number of summary.json (and of speed.json, if there is one), one a line:
/// prompt (empty for the whole run), part ("run", "rung", "edge", "restart_decile", "round",
/// "replica" or "speed"), its number from 1 (of a decile "2/3", rung 2 and decile 3; of a round
/// "4.1/2", stage 4, round 1 and rung 2; of a replica "3/2", replica 3 at rung 2), figure and
/// value.
std::string figures_csv(const nlohmann::ordered_json& summary, const nlohmann::ordered_json& speed);

}  // namespace tempera::gpu
