#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/record.hpp"

namespace tempera::gpu {

/// The record of these tokens, computed from the prompt on and scored as the sampler scores what it
/// draws, with the entropies if they are measured: what a run that is resumed, or an enumeration
/// that starts somewhere, begins with. cache: of the beginning of the prompt, or none.
/// @throw ImpossibleToken if a token has probability zero, or follows a terminal one or the horizon
Record score_record(LanguageModel& model, RowLottery& rows, const Ladder& ladder,
                    const Context& context, std::size_t horizon, std::span<const TokenId> tokens,
                    bool measure_entropy = false, std::unique_ptr<Cache> cache = nullptr);

}  // namespace tempera::gpu
