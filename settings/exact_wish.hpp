#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "settings/resolve.hpp"

namespace tempera::gpu {

/// What a user may say about a sampler whose law is enumerated. Each stage has the same counts.
/// What is left open takes the default of settings/defaults.hpp.
struct ExactWish {
  std::optional<std::size_t> block = {};        ///< as ExactBlock says
  std::optional<std::size_t> rounds = {};       ///< defaults::exact_rounds
  std::optional<std::size_t> local_moves = {};  ///< defaults::local_moves
  std::optional<std::size_t> sweeps = {};       ///< defaults::sweeps
  std::optional<Schedule> schedule = {};        ///< adj
  std::optional<std::size_t> particles = {};    ///< none: the caller has to ask for it
  std::optional<std::size_t> output_rung = {};  ///< the last, from 1
  std::optional<std::size_t> most_tokens = {};  ///< any number

  /// The same as a wish for a run, so that what the sampler does not take can be refused.
  SamplerWish as_sampler_wish() const;
};

/// B if nobody gives one.
enum class ExactBlock : std::uint8_t {
  of_run,        ///< a quarter of T, as in a run: the law is that of the run
  of_comparison  ///< half of T, so that restarts have positions to choose from
};

/// The same, with no field open any more.
struct ExactSettings {
  std::size_t block = 0;
  std::size_t rounds = 0;
  std::size_t local_moves = 0;
  std::size_t sweeps = 0;
  Schedule schedule = Schedule::adj;
  std::size_t particles = 0;    ///< 0 if none are given
  std::size_t output = 0;       ///< the rung of the answer, from 0
  std::size_t most_tokens = 0;  ///< of all proposals; 0: any number
};

/// Fills in what was left open.
/// @throw BadInput for an output rung that a ladder of `rungs` does not have
ExactSettings resolve_exact(const ExactWish& wish, std::size_t horizon, std::size_t rungs,
                            ExactBlock block, Spelling spelling = Spelling::keys);

}  // namespace tempera::gpu
