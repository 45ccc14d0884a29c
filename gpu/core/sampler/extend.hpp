#pragma once

#include "gpu/core/sampler/chain.hpp"

namespace tempera::gpu {

/// Step 1 of Algorithm 1: extends an open record to the horizon T_m with tokens of g_{α_k},
/// `eq:implementation-extension`, `eq:proposal-g`. The padding after a terminal token is implicit.
Task extend(Record& x, Turn turn, std::size_t horizon);

}  // namespace tempera::gpu
