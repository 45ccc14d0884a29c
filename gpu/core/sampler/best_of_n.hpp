#pragma once

#include "gpu/core/sampler/likeliest_record.hpp"
#include "gpu/core/sampler/progress.hpp"

namespace tempera::gpu {

/// Best-of-N (`apx:compute-matched`): N independent records, every token from g_α; the answer is
/// the one with the greatest cumulative log-likelihood log p0, the first of those that are tied.
/// The paper draws from the model itself, α = 1.
/// Range: a ladder of one power, plan.particles >= 1.
template <class Rules = LikelihoodRules>
Task best_of_n(Chain& chain, const Plan& plan, Progress& progress, Observer* observer) {
  if (progress.replicas.empty())
    co_await initialize_records(chain, plan.particles, progress.replicas);
  for (; progress.stage < plan.stages.size(); end_stage(progress))
    co_await begin_stage(chain, progress, plan.stages[progress.stage].horizon, observer);
  progress.answer = likeliest_record<Rules>(progress.replicas);
}

/// The paper's rule is compiled once, in instances.cpp: what lab/ enumerates is what runs.
extern template Task best_of_n<LikelihoodRules>(Chain& chain, const Plan& plan, Progress& progress,
                                                Observer* observer);

}  // namespace tempera::gpu
