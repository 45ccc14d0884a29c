#pragma once

#include <span>
#include <string>
#include <string_view>

#include "gpu/core/sampler/sampler_function.hpp"

namespace tempera::gpu {

/// A sampler that the paper runs or compares with, by its name, and what it takes.
struct NamedSampler {
  std::string_view name;
  std::string_view description;  ///< one line
  SamplerFunction program;
  enum class Powers {
    base,   ///< the model itself, α = 1
    one,    ///< one power
    ladder  ///< a power for each rung
  } powers;
  bool takes_particles = false;  ///< N
  bool takes_moves = false;      ///< rounds of moves
  /// Whether its moves are those of L_k, whose restart law can be chosen, and
  /// which can reject early and begin ahead.
  bool takes_local_moves = false;
  bool takes_swaps = false;   ///< sweeps and their schedule
  bool takes_output = false;  ///< the rung k* of the answer
  /// It proposes until a proposal is kept, at a power of at least 1: its tokens may be limited.
  bool until_kept = false;
};

/// What `tempera sample` runs if no sampler is named.
inline constexpr std::string_view default_sampler = "ppt";

/// All of them: Algorithm 1 first, then those that the paper compares it with.
std::span<const NamedSampler> named_samplers();
/// @throw BadInput naming `where`, with the nearest name, if there is none of that name
const NamedSampler& sampler_named(std::string_view name, std::string_view where);

}  // namespace tempera::gpu
