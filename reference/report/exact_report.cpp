#include "reference/report/exact_report.hpp"

#include "reference/analysis/swap_rate.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_restart_kernel.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/report/carried_report.hpp"

namespace tempera::reference {
namespace {

// Before anything that takes time.
std::optional<std::size_t> start_record(const RecordSpace& space, const ExactQuestion& asked) {
  if (!asked.start) return std::nullopt;
  return space.parse(asked.start->text, asked.start->where);
}

template <class Space>
RungReport report_rung(const Space& space, const Power& power, Matrix kernel,
                       const std::optional<std::size_t>& start, std::size_t steps) {
  RungReport report{
      space.names(), base_law(space), power_target(space, power), std::move(kernel), {}, {}};
  const FactoredKernel chain(report.kernel);
  report.verdict = judge({chain, report.target, report.states, token_counts(space)});
  if (start) report.total_variation = total_variation_curve({chain}, *start, report.target, steps);
  return report;
}

}  // namespace

RestartLaw AskedChain::restart() const {
  return asked_.restart ? *asked_.restart : RestartLaw::uniform(asked_.horizon);
}

const FixedHorizonSpace& AskedChain::space() {
  if (!space_) space_.emplace(model_, asked_.horizon);
  return *space_;
}

const ParallelTempering& AskedChain::kernels() {
  if (!kernels_) kernels_.emplace(space(), ladder_, restart(), asked_.range);
  return *kernels_;
}

Matrix AskedChain::first_local_kernel() {
  return kernels_ ? kernels_->local_kernel(0)
                  : local_kernel(space(), ladder_[0], restart(), asked_.range);
}

RungReport report_fixed_horizon(AskedChain& chain) {
  const auto start = start_record(chain.space(), chain.asked());
  return report_rung(chain.space(), chain.ladder()[0], chain.first_local_kernel(), start,
                     chain.asked().steps);
}

RungReport report_fixed_horizon(const FiniteModel& model, const Power& power,
                                const ExactQuestion& asked) {
  AskedChain chain(model, Ladder({power}), Schedule::adj, asked);
  return report_fixed_horizon(chain);
}

RungReport report_truncating(const FiniteModel& model, const Power& power,
                             const ExactQuestion& asked) {
  const ComparisonSpace space(model, asked.horizon);
  const auto start = start_record(space, asked);
  return report_rung(space, power, truncating_kernel(space, power), start, asked.steps);
}

RungReport report_carried_truncating(const FiniteModel& model, const Power& power,
                                     const ExactQuestion& asked) {
  const ComparisonSpace space(model, asked.horizon, listed_limit);
  const auto start = start_record(space, asked);
  RungReport report{
      space.names(), base_law(space), power_target(space, power), Matrix(0, 0), {}, {}};
  const CarriedTruncating chain(space, power);
  report.verdict = judge(chain, report.target);
  if (!start) return report;
  Law law = point_mass(space.size(), *start);
  report.total_variation.push_back(total_variation(law, report.target));
  for (std::size_t n = 0; n < asked.steps; ++n) {
    law = chain.apply(law);
    report.total_variation.push_back(total_variation(law, report.target));
  }
  return report;
}

JointReport report_joint(const FiniteModel& model, const Ladder& ladder, Schedule schedule,
                         const ExactQuestion& asked) {
  AskedChain chain(model, ladder, schedule, asked);
  return report_joint(chain);
}

JointReport report_joint(AskedChain& about) {
  const FixedHorizonSpace& space = about.space();
  const Ladder& ladder = about.ladder();
  const Schedule schedule = about.schedule();
  const ExactQuestion& asked = about.asked();
  std::optional<std::size_t> start;
  if (asked.start)
    start = parse_joint_state(space, ladder.rungs(), asked.start->text, asked.start->where);
  const ParallelTempering& kernels = about.kernels();
  const Law target = kernels.target();
  const FactoredKernel chain =
      schedule == Schedule::adj ? kernels.transition(1, 1) : kernels.deo_transition();

  JointReport report{space.names(), {}, {}, {}};
  report.verdict = judge(
      {chain, target, joint_names(space, ladder.rungs()), token_counts(space, ladder.rungs())});
  if (ladder.rungs() > 1) report.swap_acceptance = diagnose_ladder(space, ladder).acceptances;
  if (!start) return report;
  std::vector<FactoredKernel> steps{chain};
  if (schedule == Schedule::deo) {
    steps = {kernels.local_sweep(), kernels.local_sweep()};
    steps[0].then(kernels.odd_layer());
    steps[1].then(kernels.even_layer());
  }
  report.total_variation = total_variation_curve(steps, *start, target, asked.steps);
  return report;
}

}  // namespace tempera::reference
