#pragma once

#include <cstddef>
#include <string>

#include "lab/enumerate/compiled_space.hpp"

namespace tempera::lab {

/// The model that production's float32 logits define, as rationals for reference/: softmax to 50
/// digits, rounded to multiples of 2^-160, the likeliest token taking the rest. Its records,
/// kernels and targets are the sampler's own to 1e-45, so what differs from them by more is the
/// sampler's error.
reference::FiniteModel own_model(const EnumerableModel& model, std::size_t horizon,
                                 const std::string& name);

}  // namespace tempera::lab
