#pragma once

#include "tempera/options.hpp"

namespace tempera::gpu {

/// How a chain is drawn. All but the TokenOptions change no answer, record or acceptance.
struct ChainOptions : MoveOptions, TokenOptions {
  /// Whether the negative entropy of each token is measured, which Record::confidence averages.
  bool confidence = false;
  /// True if events hold the drawn tokens, so that an audit need not draw them again.
  bool auditable = false;
};

}  // namespace tempera::gpu
