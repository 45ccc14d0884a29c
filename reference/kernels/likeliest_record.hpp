#pragma once

#include <vector>

#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Records are tied with the likeliest if their likelihood is at least this share of its, 1 −
/// 2^-16: the likelihoods of a model whose rows are only known to float32 tie if the exact ones
/// do.
Rational tied_share();

/// Law of the likeliest of independent records, one from each of the laws on the space: the first,
/// in the order of the laws, whose p0(x) is at least tied_share() of the greatest
/// (apx:compute-matched). N copies of one law make Best-of-N, the laws of the rungs the uncoupled
/// ladder ranked by likelihood. Range: at least one law.
Law likeliest_record_law(const RecordSpace& space, const std::vector<Law>& laws);

}  // namespace tempera::reference
