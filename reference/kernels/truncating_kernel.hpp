#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// The truncating local kernel on the enlarged comparison space (sec:truncation-lower-bound,
/// P-tilde of eq:condensed-fixed-kernel): restart uniform on 1..len(x), regeneration capped at
/// len(x), and token scores compared only through the candidate's own endpoint. It leaves the
/// target.
Matrix truncating_kernel(const ComparisonSpace& space, const Power& power);

}  // namespace tempera::reference
