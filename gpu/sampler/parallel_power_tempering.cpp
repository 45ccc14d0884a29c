#include "gpu/sampler/parallel_power_tempering.hpp"

#include "gpu/sampler/refine.hpp"
#include "gpu/sampler/truncating_move.hpp"

namespace tempera::gpu {
namespace {

/// Step 2 for one rung, restarting where the plan says.
Task refine(Record& x, Run& run, const Plan& plan, Rung k, MoveNumbers numbers,
            const RestartLaw& law, MovesAhead& begun) {
  return plan.restart_range == RestartRange::record
             ? refine<RecordRestartRules>(x, run, k, numbers, law, begun)
             : refine<PaperRules>(x, run, k, numbers, law, begun);
}

}  // namespace

Task parallel_power_tempering(Run& run, const Plan& plan, Progress& progress, Observer* observer) {
  if (progress.replicas.empty()) co_await initialize_replicas(run, progress.replicas);
  for (; progress.stage < plan.stages.size(); end_stage(progress)) {
    const Stage& stage = plan.stages[progress.stage];
    const RestartLaw law = RestartLaw::in_parts(plan.restart_weights, stage.horizon);
    co_await begin_stage(run, progress, stage.horizon, observer);
    std::vector<MovesAhead> begun(progress.replicas.size());  // of each rung, on its record
    while (progress.round < stage.rounds) {
      const MoveNumbers numbers = moves_of_round(progress, stage);
      std::vector<Task> refinements;
      for (Rung k = 0; k < progress.replicas.size(); ++k)
        refinements.push_back(refine(progress.replicas[k], run, plan, k, numbers, law, begun[k]));
      co_await all(std::move(refinements));
      progress.local_moves = numbers.round_end;
      for (std::size_t b = 0; b < stage.sweeps; ++b)
        sweep(progress.replicas, run, plan.schedule, progress.sweeps++);
      end_outdated(begun, run.events);
      ++progress.round;
      report(run, progress, observer);
    }
  }
}

Task truncating_power_sampling(Run& run, const Plan& plan, Progress& progress, Observer* observer) {
  if (progress.replicas.empty()) co_await initialize_replicas(run, progress.replicas);
  for (; progress.stage < plan.stages.size(); end_stage(progress)) {
    const Stage& stage = plan.stages[progress.stage];
    co_await begin_stage(run, progress, stage.horizon, observer);
    while (progress.round < stage.rounds) {
      for (std::size_t a = 0; a < stage.local_moves; ++a)
        co_await truncating_move(progress.replicas.front(),
                                 Turn(run, 0, progress.local_moves++, Purpose::proposal_token));
      ++progress.round;
      report(run, progress, observer);
    }
    if (progress.replicas.front().terminated()) co_return;
  }
}

}  // namespace tempera::gpu
