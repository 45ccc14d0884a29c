#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Block extension at one rung: an open record of the shorter horizon is continued by tokens of
/// g_α through the longer one, a terminated record is padded (eq:implementation-extension,
/// eq:proposal-g).
/// |shorter| x |longer|, rows sum to one. Both spaces must be of one model.
Matrix block_extension(const FixedHorizonSpace& shorter, const FixedHorizonSpace& longer,
                       const Power& power);

}  // namespace tempera::reference
