#pragma once

#include "gpu/core/sampler/likeliest_record.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"

namespace tempera::gpu {

/// The uncoupled ladder's answer is the trace at rung k* (`apx:compute-matched`, Coldest Rung).
struct ColdestRung {
  static std::size_t answer(const Progress&, const Plan& plan) { return plan.output; }
};

/// The uncoupled ladder's answer is the trace with the greatest cumulative log-likelihood, at
/// whatever rung (`apx:compute-matched`, Likelihood Rank); of those that are tied the one at the
/// lowest rung.
struct LikeliestRung {
  static std::size_t answer(const Progress& progress, const Plan&) {
    return likeliest_record(progress.replicas);
  }
};

/// The uncoupled ladder (`apx:compute-matched`): the replicas, powers, horizon, blocks and
/// refinement schedule of Algorithm 1, and no swap is attempted, so that its chains are
/// independent.
template <class Readout>
Task uncoupled_ladder(Chain& chain, const Plan& plan, Progress& progress, Observer* observer) {
  Plan uncoupled = plan;
  for (Stage& stage : uncoupled.stages) stage.sweeps = 0;
  co_await parallel_power_tempering(chain, uncoupled, progress, observer);
  progress.answer = Readout::answer(progress, plan);
}

/// Both are compiled once, in instances.cpp: what lab/ enumerates is what runs.
extern template Task uncoupled_ladder<ColdestRung>(Chain& chain, const Plan& plan,
                                                   Progress& progress, Observer* observer);
extern template Task uncoupled_ladder<LikeliestRung>(Chain& chain, const Plan& plan,
                                                     Progress& progress, Observer* observer);

}  // namespace tempera::gpu
