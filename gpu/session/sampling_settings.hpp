#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gpu/model/arithmetic.hpp"
#include "gpu/session/draw_answers.hpp"
#include "gpu/session/named_sampler.hpp"
#include "gpu/transformer/architectures/rope_factors.hpp"

namespace tempera::gpu {

/// A prompt of `tempera sample`: the one that the user gave, which has no id, or one of a file.
struct SamplePrompt {
  std::optional<std::string> id;
  std::vector<TokenId> tokens;
  /// T of its own, where less fits behind it than the settings' T.
  std::optional<std::size_t> horizon = std::nullopt;
};

/// Everything that decides the answers of `tempera sample`, resolved: what config.json holds.
struct SamplingSettings {
  std::string model;       ///< as the user named it
  std::string model_path;  ///< the same place from any current directory
  /// None for a model whose logits are given, and in folders that older versions made: these
  /// computed in float32, and go on in it.
  std::optional<Arithmetic> arithmetic;
  /// Of a model that has two sets of rotary factors, the one that the run computes with.
  std::optional<RopeFactors> rope_factors;
  std::string sampler{default_sampler};  ///< by its name, as sampler_named knows it
  std::vector<SamplePrompt> prompts;
  std::vector<TokenId> terminal;
  std::vector<double> powers;
  std::size_t horizon = 0;  ///< T of prompts without one of their own
  std::size_t block = 0;
  std::vector<std::size_t> rounds;
  std::vector<std::size_t> local_moves;
  std::vector<std::size_t> sweeps;
  Schedule schedule = Schedule::adj;
  std::vector<std::uint64_t> restart_weights;  ///< as Plan's; none: uniform
  RestartRange restart_range = RestartRange::horizon;
  std::size_t output = 0;     ///< output rung k*, from 1 as in the paper
  std::size_t particles = 0;  ///< N of a sampler of particles; else 0
  std::size_t samples = 1;
  std::uint64_t seed = 0;
  /// Whether proposals end as soon as their rejection is certain; it decides no answer.
  bool early_rejection = false;
  /// Whether events.jsonl tells each record's confidence after each round.
  bool confidence = false;
  std::string preset;  ///< whose values those are that no option gave; may be empty

  /// "prompt" holds the tokens of the one prompt without an id, "prompt_horizon" its own T;
  /// "prompts" lists those with an id.
  nlohmann::ordered_json to_json() const;
  /// @throw BadInput naming `file` and the key for what config.json should not hold
  static SamplingSettings from_json(const nlohmann::json& json, const std::string& file);
  /// @throw BadInput for a sampler that is unknown or takes no such powers, particles or restarts,
  /// and for a ladder, stages, restart weights, output rung, number of samples or horizon of a
  /// prompt that make no run
  Plan plan() const;
  /// What draw_answers is asked for.
  /// @throw BadInput as plan, and if two ids share a number
  DrawSettings draw_settings() const;
  std::vector<Prompt> numbered_prompts() const;

 private:
  void check_sampler() const;
};

}  // namespace tempera::gpu
