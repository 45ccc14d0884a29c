#pragma once

#include <optional>

#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Σ law(x) over the records of the model's answer set: Pass@1 of a sampler with that law. Nothing
/// if the model names no answers.
std::optional<Rational> answer_probability(const RecordSpace& space, const Law& law);

/// Σ law(x) over the records that end without a terminal token: at the horizon, or where a
/// truncating sampler gave up. The hit-capacity rate (tab:cold-replica-results).
Rational open_probability(const RecordSpace& space, const Law& law);

}  // namespace tempera::reference
