#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/session/defaults.hpp"
#include "gpu/session/resolve.hpp"
#include "runs/ladders/ladder_calibration.hpp"

namespace tempera::gpu {

/// What a user may say of a ladder that pilots are to find. What is left open takes the default
/// of gpu/session/defaults.hpp.
struct LadderWish {
  double from = 0.0;                        ///< α_1
  double to = 0.0;                          ///< α_K
  std::size_t replicas = 0;                 ///< K
  std::optional<std::size_t> horizon = {};  ///< defaults::horizon
  std::optional<std::size_t> block = {};    ///< defaults::block, of T
  std::optional<std::size_t> rounds = {};   ///< defaults::pilot_rounds, of each stage
  std::optional<std::size_t> samples = {};  ///< defaults::samples, of each prompt
  std::optional<std::size_t> pilots = {};   ///< defaults::pilots
  std::uint64_t seed = defaults::seed;
  SessionOptions session = {};   ///< how the pilots are laid out
  bool times_schedules = false;  ///< two pilots more, one under each schedule
};

/// A calibration with no field open any more, and the prompts of its pilots.
struct ResolvedLadder {
  std::size_t horizon = 0;  ///< T of prompts without one of their own
  CalibrationSettings settings;
  std::vector<Prompt> prompts;
};

/// Fills in what was left open and refuses what cannot be.
/// @throw BadInput as geometric_ladder and resolve_prompt, and for a horizon of 0 or more pilots
/// than there may be
ResolvedLadder resolve_ladder(const LadderWish& wish, const OpenedModel& model,
                              const std::vector<RunPrompt>& prompts, const ChatArguments& arguments,
                              Spelling spelling = Spelling::keys);

/// "equal", "same" or "exhausted": why_calibration_ends as JSON and Python have it.
const char* name_of(CalibrationEnd end);

}  // namespace tempera::gpu
