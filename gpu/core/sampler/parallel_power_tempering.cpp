#include "gpu/core/sampler/parallel_power_tempering.hpp"

#include "gpu/core/sampler/progress.hpp"
#include "gpu/core/sampler/refine.hpp"
#include "gpu/core/sampler/truncating_move.hpp"

namespace tempera::gpu {
namespace {

/// Step 2 for one rung, restarting where the plan says.
Task refine(Record& x, Chain& chain, const Plan& plan, Rung k, MoveNumbers numbers,
            const RestartLaw& law, MovesAhead& begun) {
  return plan.restart_range == RestartRange::record
             ? refine<RecordRestartRules>(x, chain, k, numbers, law, begun)
             : refine<PaperRules>(x, chain, k, numbers, law, begun);
}

}  // namespace

Task parallel_power_tempering(Chain& chain, const Plan& plan, Progress& progress,
                              Observer* observer) {
  if (progress.replicas.empty()) co_await initialize_replicas(chain, progress.replicas);
  for (; progress.stage < plan.stages.size(); end_stage(progress)) {
    const Stage& stage = plan.stages[progress.stage];
    const RestartLaw law = RestartLaw::in_parts(plan.restart_weights, stage.horizon);
    co_await begin_stage(chain, progress, stage.horizon, observer);
    std::vector<MovesAhead> begun(progress.replicas.size());  // of each rung, on its record
    while (progress.round < stage.rounds) {
      const MoveNumbers numbers = moves_of_round(progress, stage);
      std::vector<Task> refinements;
      for (Rung k = 0; k < progress.replicas.size(); ++k)
        refinements.push_back(refine(progress.replicas[k], chain, plan, k, numbers, law, begun[k]));
      co_await all(std::move(refinements));
      progress.local_moves = numbers.round_end;
      for (std::size_t b = 0; b < stage.sweeps; ++b) {
        Engine::Pause pause = chain.engine.pause(progress.replicas.size());
        // What has begun ahead must not go on, in a pass of others, on a record that was swapped.
        if (chain.engine.has_done_enough())
          for (MovesAhead& ahead : begun) ahead.clear();
        co_await pause;
        sweep(progress.replicas, chain, plan.schedule, progress.sweeps++);
      }
      end_outdated(begun, chain.events);
      ++progress.round;
      report(chain, progress, observer);
      co_await chain.engine.pause(progress.replicas.size());
    }
  }
}

Task truncating_power_sampling(Chain& chain, const Plan& plan, Progress& progress,
                               Observer* observer) {
  if (progress.replicas.empty()) co_await initialize_replicas(chain, progress.replicas);
  for (; progress.stage < plan.stages.size(); end_stage(progress)) {
    const Stage& stage = plan.stages[progress.stage];
    co_await begin_stage(chain, progress, stage.horizon, observer);
    while (progress.round < stage.rounds) {
      for (std::size_t a = 0; a < stage.local_moves; ++a)
        co_await truncating_move(progress.replicas.front(),
                                 Turn(chain, 0, progress.local_moves++, Purpose::proposal_token));
      ++progress.round;
      report(chain, progress, observer);
      co_await chain.engine.pause(progress.replicas.size());
    }
    if (progress.replicas.front().terminated()) co_return;
  }
}

}  // namespace tempera::gpu
