#pragma once

#include <algorithm>

#include "reference/model/record.hpp"

namespace tempera::reference {

/// The largest restart position r in 1..T at which y_{<r} = x_{<r} for two different records with
/// their ⊥ padding: the first position where they differ.
inline std::size_t last_shared_restart(const Record& x, const Record& y) {
  const auto [in_x, in_y] =
      std::mismatch(x.tokens.begin(), x.tokens.end(), y.tokens.begin(), y.tokens.end());
  return static_cast<std::size_t>(in_x - x.tokens.begin()) + 1;
}

}  // namespace tempera::reference
