#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "lab/contest/contest.hpp"
#include "settings/defaults.hpp"

namespace tempera::lab {

/// What an exact comparison asks of the samplers on one finite model.
struct ExactComparisonSettings {
  std::size_t horizon = 0;  ///< T; 0: the longest up to 4 whose joint states are few enough
  std::size_t block = 0;    ///< B; 0: gpu::defaults::exact_block
  reference::Ladder ladder;
  std::size_t rounds = gpu::defaults::exact_rounds;      ///< of PPT, in each stage
  std::size_t local_moves = gpu::defaults::local_moves;  ///< of each rung, in each round
  std::size_t sweeps = gpu::defaults::sweeps;            ///< in each round
  /// Curves follow PPT to this multiple of its rounds, and the others to the tokens that it then
  /// takes; 0: no curves.
  std::size_t curve_multiple = 0;
};

/// "1 round", "2 rounds": an effort.
std::string rounds_text(std::size_t rounds);

/// One sampler at efforts that grow.
struct ExactCurve {
  std::string sampler;
  std::vector<ExactRow> rows;  ///< by their decode tokens; one if there is nothing to choose
};

struct ExactComparison {
  std::string model;  ///< its name
  std::size_t horizon = 0;
  std::size_t block = 0;
  std::size_t records = 0;  ///< |S_T|
  ExactRow target;          ///< π_α, with no tokens
  std::vector<ExactRow> rows;
  std::vector<ExactCurve> curves;  ///< of each row's sampler, in that order; empty if not asked for
};

/// The samplers that the paper compares, exactly, at matched expected compute: those with rounds or
/// particles get the fewest with which they are expected to take at least the decode tokens of PPT
/// with ordered sweeps, at most 64 of either, and of PowerSMC's particles as many as have 20,000
/// joint states. The uncoupled ladder and PPT with even–odd sweeps keep PPT's schedule, as in the
/// paper. `done` is told each row.
/// @throw BadInput for a model, horizon, block or ladder that make no run
ExactComparison compare_exactly(const reference::FiniteModel& model,
                                const ExactComparisonSettings& settings,
                                const std::function<void(const ExactRow&)>& done = {});

/// The settings with the horizon and block that stand for 0.
ExactComparisonSettings chosen(const reference::FiniteModel& model,
                               const ExactComparisonSettings& settings);

}  // namespace tempera::lab
