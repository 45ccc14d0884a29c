#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::gpu {

/// A row of the paper's tables of hyper-parameters (`tab:ppt-hyperparams-qwen3-4b`,
/// `tab:ppt-hyperparams-qwen35-9b`). The paper attempts one ordered sweep after every round of one
/// local move of each rung, and answers with the record of the last rung.
struct Preset {
  std::string_view name;  ///< "qwen3/math500"
  std::string_view models;
  std::string_view benchmark;
  std::vector<double> powers;
  std::size_t horizon;  ///< T
  std::size_t block;    ///< B
  std::size_t rounds;   ///< N_MCMC, local refinement steps per block
};

/// How many tokens the paper leaves free if the model's context cuts a preset's horizon.
inline constexpr std::size_t preset_margin = 64;

/// All of them, in the paper's order.
std::span<const Preset> presets();
/// A preset is also called by each of its models: "qwen3/math500", which is for two, is
/// "qwen3-4b/math500" and "qwen3-8b/math500" too.
std::vector<std::string> other_names(const Preset& preset);
/// The one that has this name or another, in capitals or not; or nullptr.
const Preset* find_preset(std::string_view name);
/// The same.
/// @throw BadInput naming `where`, with the nearest names, if there is none
const Preset& preset_named(std::string_view name, const std::string& where);
/// What an unknown name probably means: the name that is nearest, else all whose model or benchmark
/// it is nearest to, as "a/x or b/x"; nothing if it is near to none.
std::string nearest_presets(std::string_view name);

}  // namespace tempera::gpu
