#pragma once

#include <optional>
#include <span>

#include "gpu/core/statistics/tempering_statistics.hpp"
#include "runs/ladders/ladder_calibration.hpp"

namespace tempera::gpu {

/// What pilots on one ladder measured of one schedule.
struct MeasuredSchedule {
  /// Seconds of one iteration of one run, local moves and sweep (ADJ) or parity layer (DEO), block
  /// extensions in proportion included: d_ADJ or d_DEO of Section `sec:chain-communication`.
  double seconds = 0.0;
  std::vector<EdgeCounts> edges;

  /// 1/(E T · d): E T = K(1 + R) under ADJ, 2K(1 + R) under DEO, R = Σ_k (1 − a_k)/a_k from the
  /// shares that were accepted. Nothing if an edge has accepted no swap.
  std::optional<double> round_trips_per_second(Schedule schedule) const;
};

/// Both schedules on one ladder.
struct ScheduleChoice {
  MeasuredSchedule adj;
  MeasuredSchedule deo;
  /// The one of more expected round trips per second; ADJ, the paper's, if they are equal or one
  /// of them is unknown. With equal acceptances it is DEO exactly if d_ADJ > 2 d_DEO.
  Schedule recommended() const;
};

/// Runs two more pilots on `powers`, one under each schedule, with addresses of their own. Seconds
/// are measured, so two calls differ; a run takes the schedule as a setting, fixed before it
/// begins, and nothing of the pilots enters it.
/// @param pilots how many the settings have run already, at most addressable_pilots − 2
/// @throw BadInput as draw_answers, and if no address is left for two more pilots
ScheduleChoice measure_schedules(LanguageModel& model, std::span<const Prompt> prompts,
                                 const CalibrationSettings& settings,
                                 const std::vector<double>& powers, std::size_t pilots);

}  // namespace tempera::gpu
