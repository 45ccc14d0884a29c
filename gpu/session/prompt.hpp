#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "gpu/core/model/language_model.hpp"
#include "gpu/session/prompt_number.hpp"

namespace tempera::gpu {

/// A prompt whose answers are drawn.
struct Prompt {
  std::vector<TokenId> tokens;
  /// What tells its draws from those of other prompts, whatever else is drawn beside it.
  PromptNumber number;
  /// T of its own, if that of the run does not fit after it.
  std::optional<std::size_t> horizon = std::nullopt;
};

}  // namespace tempera::gpu
