#include "gpu/sampler/parallel_power_tempering.hpp"

#include <algorithm>
#include <tuple>

#include "gpu/sampler/extend.hpp"
#include "gpu/sampler/local_move.hpp"
#include "gpu/sampler/truncating_move.hpp"

namespace tempera::gpu {
namespace {

/// Step 1 for all rungs at once.
Task extend_all(Run& run, Progress& progress, std::size_t horizon) {
  std::vector<Task> extensions;
  for (Rung k = 0; k < progress.replicas.size(); ++k)
    extensions.push_back(extend(progress.replicas[k],
                                Turn(run, k, progress.stage, Purpose::extension_token), horizon));
  co_await all(std::move(extensions));
}

/// Step 2 for one rung: its n_local moves of one round.
Task refine(Record& x, Run& run, Rung k, std::size_t first, std::size_t moves,
            const RestartLaw& law) {
  for (std::size_t a = 0; a < moves; ++a)
    co_await local_move(x, Turn(run, k, first + a, Purpose::proposal_token), law);
}

void report(Run& run, const Progress& progress, Observer* observer) {
  std::sort(run.events.begin(), run.events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.kind, a.turn, a.rung) < std::tie(b.kind, b.turn, b.rung);
  });
  if (observer != nullptr) observer->advanced(progress, run.events);
  run.events.clear();
}

/// Step 1 of a stage, unless a run that is taken up again has it behind itself.
Task begin_stage(Run& run, Progress& progress, std::size_t horizon, Observer* observer) {
  if (progress.extended) co_return;
  co_await extend_all(run, progress, horizon);
  progress.extended = true;
  report(run, progress, observer);
}

void end_stage(Progress& progress) {
  ++progress.stage;
  progress.extended = false;
  progress.round = 0;
}

}  // namespace

Task parallel_power_tempering(Run& run, const Plan& plan, Progress& progress, Observer* observer) {
  if (progress.replicas.empty()) co_await initialize_replicas(run, progress.replicas);
  for (; progress.stage < plan.stages.size(); end_stage(progress)) {
    const Stage& stage = plan.stages[progress.stage];
    const RestartLaw law = RestartLaw::uniform(stage.horizon);
    co_await begin_stage(run, progress, stage.horizon, observer);
    while (progress.round < stage.rounds) {
      std::vector<Task> refinements;
      for (Rung k = 0; k < progress.replicas.size(); ++k)
        refinements.push_back(
            refine(progress.replicas[k], run, k, progress.local_moves, stage.local_moves, law));
      co_await all(std::move(refinements));
      progress.local_moves += stage.local_moves;
      for (std::size_t b = 0; b < stage.sweeps; ++b)
        sweep(progress.replicas, run, plan.schedule, progress.sweeps++);
      ++progress.round;
      report(run, progress, observer);
    }
  }
}

const Record& answer_of(const Progress& progress, const Plan& plan) {
  return progress.replicas.at(plan.output);
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
