#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "settings/defaults.hpp"
#include "settings/resolve.hpp"

namespace tempera::gpu {

/// What a user may say of a comparison of samplers on problems.
struct ComparisonWish {
  std::string model;          ///< a folder, a name or a GGUF file
  std::string problems = {};  ///< JSONL of prompts and answers; held_out.jsonl of a model's folder
  std::string settings = {};  ///< JSON (read_comparison); comparison.json of a model's folder
  std::optional<std::size_t> most = {};  ///< the first problems only; all
  std::uint64_t seed = defaults::comparison_seed;
  std::optional<Arithmetic> arithmetic = {};  ///< what the settings name, else float32
};

/// One problem whose answer a program can check.
struct Problem {
  std::string prompt;
  std::string answer;
};

/// One row of the comparison.
struct Contestant {
  std::string name;
  SamplerSettings settings;
};

/// What comparison.json says. What it leaves open takes the default of a run.
struct ComparisonFile {
  std::optional<Arithmetic> arithmetic = {};
  SamplerWish sampler = {};           ///< of PPT, whose values the other samplers share
  std::size_t truncating_rounds = 0;  ///< of the truncating sampler
  /// Rounds of the single chain that spends about as many decode tokens as PPT.
  std::size_t matched_rounds = 0;
};

/// A comparison with no field open any more.
struct ComparisonSettings {
  std::optional<Arithmetic> arithmetic;
  std::vector<Problem> problems;
  std::string problems_file;
  /// Base sampling, tokenwise temperature 1/α*, the truncating sampler, the fixed-horizon chain,
  /// the same with matched compute, the ladder without swaps, and PPT.
  std::vector<Contestant> contestants;

  const SamplerSettings& tempering() const { return contestants.back().settings; }
};

/// Problems from a JSONL file of {"prompt", "answer"}.
/// @throw BadInput naming file, line and remedy
std::vector<Problem> read_problems(const std::string& file);
/// @throw BadInput naming file, what is wrong in it and the remedy
ComparisonFile read_comparison(const std::string& file);

/// The samplers of a comparison, each as `tempera sample` would run it.
/// @throw BadInput as resolve_sampler
std::vector<Contestant> resolve_contestants(const ComparisonFile& said);

/// Reads the files, fills in what was left open and refuses what cannot be, before any model is
/// opened.
/// @throw BadInput naming a file that is missing, or what is wrong in it
ComparisonSettings resolve_comparison(const ComparisonWish& wish,
                                      Spelling spelling = Spelling::keys);

}  // namespace tempera::gpu
