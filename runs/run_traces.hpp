#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "settings/sampling_settings.hpp"

namespace tempera::gpu {

/// How often something was tried and accepted.
struct AcceptanceCount {
  std::uint64_t tried = 0;
  std::uint64_t accepted = 0;
};

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
  /// The round's own counts: tokens drawn, proposals by rung and swaps by edge.
  std::uint64_t decode_tokens = 0;
  std::vector<AcceptanceCount> moves = {};
  std::vector<AcceptanceCount> swaps = {};
};

/// What events.jsonl of a run folder says, of all prompts and samples.
struct RunTraces {
  SamplingSettings settings;
  std::vector<AcceptanceCount> moves;  ///< proposals, by rung
  std::vector<AcceptanceCount> swaps;  ///< by edge
};

/// One sample of a run.
struct OneSample {
  std::size_t prompt = 0;  ///< index among the run's prompts
  std::size_t sample = 0;
  /// The most bytes of files that are looked through for it, and of its own lines.
  std::uint64_t most_bytes = UINT64_MAX;
  std::uint64_t most_own_bytes = UINT64_MAX;
};

/// config.json of a run folder.
/// @throw BadInput naming file and remedy
SamplingSettings read_settings(const std::filesystem::path& folder);

/// Reads a run folder, finished or not, without touching it; a last line that is not whole is left
/// out. Hands every round to `take`, in the order of the file; with `only` those of one sample,
/// whose are then the counts too.
/// @throw BadInput naming file, line and remedy, also for more than `only` allows
RunTraces read_traces(const std::filesystem::path& folder,
                      const std::function<void(const RoundTrace&)>& take,
                      const std::optional<OneSample>& only = {});

/// The line of samples.jsonl about one sample; nothing if its answer is not there yet.
/// @throw BadInput as read_traces
std::optional<nlohmann::json> read_answer(const std::filesystem::path& folder,
                                          const SamplingSettings& settings, const OneSample& only);

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
