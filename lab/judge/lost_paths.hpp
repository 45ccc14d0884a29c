#pragma once

#include <cstddef>

#include "reference/numbers/rational.hpp"

namespace tempera::lab {

/// Draws of a path before it may be cut off.
inline constexpr std::size_t draws_before_cut = 40;

/// The probability below which a path that draws on and on is cut off, if so much may be lost; 0
/// for none.
inline reference::Rational cut_below(const reference::Rational& within) {
  return within / (1U << 20U);
}

}  // namespace tempera::lab
