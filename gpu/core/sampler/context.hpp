#pragma once

#include <vector>

#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// What stays the same for every record of a run: the prompt and the terminal tokens E. Held once;
/// records refer to it.
struct Context {
  std::vector<TokenId> prompt;
  std::vector<TokenId> terminal;

  bool is_terminal(TokenId token) const;
};

}  // namespace tempera::gpu
