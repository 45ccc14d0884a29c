#pragma once

#include <cstddef>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Exact rejection block by block, exactly.
struct BlockwiseLaw {
  Law answer;       ///< on S_T
  Rational tokens;  ///< expected, of the blocks that died too
};

/// From the empty record, blocks of B tokens in turn, the last as long as T leaves: each drawn by
/// exact rejection from p0(block | prefix)^α / Z_α(prefix), Z_α(prefix) being its sum over the
/// blocks that can follow. The sum knows nothing of the tokens after the block, so the
/// law is not p0^α / Z_α on whole records unless B >= T; B = 1 is tokenwise sampling at temperature
/// 1/α.
/// @throw BadInput for a block of 0 tokens, α < 1, or if a probability to the power is irrational
BlockwiseLaw blockwise_rejection_law(const FixedHorizonSpace& space, std::size_t block,
                                     const Power& power);

}  // namespace tempera::reference
