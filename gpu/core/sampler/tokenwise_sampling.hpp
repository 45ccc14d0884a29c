#pragma once

#include "gpu/core/sampler/progress.hpp"

namespace tempera::gpu {

/// Standard sampling at power 1, low-temperature sampling (temperature 1/α) at power α: every token
/// of one record from g_α (`eq:proposal`), none ever taken back. Its law is Π_t g_α(x_t | x_<t),
/// which is the power target π_α exactly if the normalisers z_α of the records' prefixes multiply
/// to the same. The stages are where a run can be cut; their rounds play no part.
/// Range: a ladder of one power.
Task tokenwise_sampling(Chain& chain, const Plan& plan, Progress& progress,
                        Observer* observer = nullptr);

}  // namespace tempera::gpu
