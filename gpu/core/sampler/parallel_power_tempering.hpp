#pragma once

#include "gpu/core/sampler/sampler_function.hpp"

namespace tempera::gpu {

/// Algorithm 1 (`alg:PPT`): Progressive fixed-horizon parallel tempering. Goes on from `progress`
/// (a new one to begin with) and leaves there the replicas of the last stage; the record at rung k*
/// is the answer. n_local moves of one rung follow each other without waiting for the other rungs,
/// which is R^{n_local}, since R is a product over rungs.
Task parallel_power_tempering(Chain& chain, const Plan& plan, Progress& progress,
                              Observer* observer = nullptr);

/// The power sampler of Karan and Du as the paper describes it (Section
/// `sec:truncation-lower-bound`): progressive blocks, restart uniform over {1, …, len(x)}, the
/// suffix regenerated only through len(x), the ratio of the token scores through the candidate's
/// endpoint; it stops early, after the first stage that ends with a terminated record, as the
/// released program does. It does not preserve the target; it is here to be compared with. Uses the
/// first rung alone.
Task truncating_power_sampling(Chain& chain, const Plan& plan, Progress& progress,
                               Observer* observer = nullptr);

}  // namespace tempera::gpu
