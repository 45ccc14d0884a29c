#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lab/real.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::lab {

/// What an exact comparison asks of the samplers on one finite model.
struct ExactComparisonSettings {
  std::size_t horizon = 0;  ///< T; 0: the longest up to 4 whose joint states are few enough
  std::size_t block = 0;    ///< B; 0: two stages
  reference::Ladder ladder;
  std::size_t rounds = 1;       ///< of PPT, in each stage
  std::size_t local_moves = 1;  ///< of each rung, in each round
  std::size_t sweeps = 1;       ///< in each round
};

/// One sampler of the comparison, from its definition alone.
struct ExactRow {
  std::string sampler;  ///< as `tempera sample --sampler` knows it, and the schedule of ppt
  std::string effort;   ///< "2 rounds", "N = 5"; empty where there is nothing to choose
  reference::Rational decode_tokens;  ///< expected, proposals included
  reference::Rational tv;             ///< of the answer's law from π_α, α the sharpest power
  Real log_likelihood;                ///< E log p0 of the answer
  /// Whether it takes as many tokens as PPT with ordered sweeps, or a choice of effort could not
  /// make it.
  bool matched = false;
};

struct ExactComparison {
  std::size_t horizon = 0;
  std::size_t block = 0;
  std::size_t records = 0;     ///< |S_T|
  Real target_log_likelihood;  ///< E log p0 under π_α
  std::vector<ExactRow> rows;
};

/// The samplers that the paper compares, exactly, at matched expected compute: those with rounds or
/// particles get the fewest with which they are expected to take at least the decode tokens of PPT
/// with ordered sweeps, at most 64 of either, and of PowerSMC's particles as many as have 20,000
/// joint states. The uncoupled ladder and PPT with even–odd sweeps keep PPT's schedule, as in the
/// paper. `done` is told each row.
/// @throw reference::BadInput for a model, horizon, block or ladder that make no run
ExactComparison compare_exactly(const reference::FiniteModel& model,
                                const ExactComparisonSettings& settings,
                                const std::function<void(const ExactRow&)>& done = {});

}  // namespace tempera::lab
