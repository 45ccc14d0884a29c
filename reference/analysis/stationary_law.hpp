#pragma once

#include <optional>

#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// The law μ with μP = μ, Σ μ = 1, by exact elimination; nothing when it is not unique. n x n
/// kernel, O(n^3) products of numbers that grow with n: for some hundred states.
std::optional<Law> stationary_law(const Matrix& kernel);

}  // namespace tempera::reference
