#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "gpu/core/sampler/position.hpp"
#include "gpu/core/sampler/stages.hpp"
#include "gpu/core/statistics/tempering_statistics.hpp"

namespace tempera::gpu {

/// How far a run is.
struct SamplingProgress {
  double done = 0.0;  ///< share of the work, in [0, 1]
  std::uint64_t decode_tokens = 0;
  double acceptance = 0.0;  ///< of local proposals
  double swap_acceptance = 0.0;
};

/// The share of `plan` that a run has done, in [0, 1]: a stage's extension and each of its
/// rounds count T_m, so that the share is Σ_m (steps done) T_m / Σ_m (N_m + 1) T_m. Proposals until
/// one is kept have the share of the tokens that they may take, 0 without a limit.
double share_done(const Plan& plan, const Position& position);

/// What runs that are `done` so far have made of it. The acceptances are those counted in
/// `statistics`, 0 before the first proposal.
SamplingProgress sampling_progress(double done, std::uint64_t decode_tokens,
                                   const TemperingStatistics& statistics);

/// The seconds left if the work to come goes as fast as the share `done` did in `seconds`; nothing
/// before 3 seconds and a twentieth of the work, when the estimate would jump about.
std::optional<double> seconds_left(double done, double seconds);

/// One line for people: share done, time left if there is an estimate, decode tokens, tokens/s
/// and acceptances, the least important last, if a narrow terminal cuts.
std::string to_line(const SamplingProgress& progress, double seconds);

/// Says when a report is due: at most ten times a second, which is as fast as a terminal is read.
class ReportClock {
 public:
  bool due();

 private:
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace tempera::gpu
