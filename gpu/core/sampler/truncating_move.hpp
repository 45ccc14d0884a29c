#pragma once

#include "gpu/core/sampler/chain.hpp"

namespace tempera::gpu {

/// One local update of the truncating sampler: the kernel P~ of `eq:condensed-fixed-kernel`.
///
/// The record's own length is the budget of the proposal, so a move may shorten it and none can
/// lengthen it; scores are cut at the candidate's endpoint, which hides the missing way back.
Task truncating_move(Record& x, Turn turn);

}  // namespace tempera::gpu
