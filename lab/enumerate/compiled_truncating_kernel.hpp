#pragma once

#include "lab/enumerate/compiled_space.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// P~ as compiled: the exact transition probabilities of production's truncating_move between the
/// records of the comparison space, which must be the model's. [|space|, |space|].
/// @throw Bug if a move leaves a record that is not, bit for bit, a fresh one
reference::Matrix compiled_truncating_kernel(const EnumerableModel& model,
                                             const reference::ComparisonSpace& space, double power);

}  // namespace tempera::lab
