#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/report/chain_verdict.hpp"

namespace tempera::reference {

/// A record, or one per rung ("s1|s2"), to start a curve from.
struct Start {
  std::string text;
  std::string where = "start";  ///< its name in messages, such as the flag that gave it
};

/// What is asked of a chain on a finite model.
struct ExactQuestion {
  std::size_t horizon = 0;
  std::optional<RestartLaw> restart;  ///< over 1..T; uniform when absent
  RestartRange range = RestartRange::horizon;
  std::optional<Start> start;  ///< no curve when absent
  std::size_t steps = 10;      ///< of the curve
};

/// The chain that is asked about: several reports share what one of them has built.
class AskedChain {
 public:
  /// The model must outlive it.
  AskedChain(const FiniteModel& model, Ladder ladder, Schedule schedule, ExactQuestion asked)
      : model_(model), ladder_(std::move(ladder)), schedule_(schedule), asked_(std::move(asked)) {}

  const FiniteModel& model() const { return model_; }
  const Ladder& ladder() const { return ladder_; }
  Schedule schedule() const { return schedule_; }
  const ExactQuestion& asked() const { return asked_; }
  RestartLaw restart() const;
  /// S_T, built when it is first asked for. @throw BadInput if it is too large
  const FixedHorizonSpace& space();
  /// Built when they are first asked for. @throw BadInput as ParallelTempering
  const ParallelTempering& kernels();
  /// L_1, from the kernels if they are there, else by itself.
  Matrix first_local_kernel();

 private:
  const FiniteModel& model_;
  Ladder ladder_;
  Schedule schedule_;
  ExactQuestion asked_;
  std::optional<FixedHorizonSpace> space_;
  std::optional<ParallelTempering> kernels_;
};

/// One rung: its laws, its transition matrix and whether the one preserves the other.
struct RungReport {
  std::vector<std::string> states;
  Law base;       ///< p0
  Law target;     ///< π_α (eq:theory-power-target)
  Matrix kernel;  ///< |states| x |states|
  ChainVerdict verdict;
  std::vector<Rational> total_variation;  ///< to the target after 0, 1, ..., steps; or empty
};

/// The local kernel L on S_T.
/// @throw BadInput if the space is too large, a power irrational or the start no record of it
RungReport report_fixed_horizon(const FiniteModel& model, const Power& power,
                                const ExactQuestion& asked);
/// The same of a ladder of one rung.
RungReport report_fixed_horizon(AskedChain& chain);

/// The truncating kernel on the comparison space; its restart is uniform whatever is asked.
/// @throw BadInput as report_fixed_horizon
RungReport report_truncating(const FiniteModel& model, const Power& power,
                             const ExactQuestion& asked);
/// report_truncating without the matrix, which is left empty and never built: up to listed_limit
/// records.
/// @throw BadInput as report_fixed_horizon
RungReport report_carried_truncating(const FiniteModel& model, const Power& power,
                                     const ExactQuestion& asked);

/// The joint chain on S_T^K.
struct JointReport {
  std::vector<std::string> records;       ///< of one rung; joint states are K-tuples of them
  ChainVerdict verdict;                   ///< of P, or of the two-step product R O R E
  std::vector<Rational> swap_acceptance;  ///< at equilibrium, one per edge
  std::vector<Rational> total_variation;  ///< joint, after 0, 1, ..., steps; or empty
};

/// One local sweep and one ordered sweep a step, or one local sweep and one parity layer.
/// @throw BadInput as report_fixed_horizon, and if there are too many joint states
JointReport report_joint(const FiniteModel& model, const Ladder& ladder, Schedule schedule,
                         const ExactQuestion& asked);
JointReport report_joint(AskedChain& asked);

}  // namespace tempera::reference
