#pragma once

#include <optional>
#include <vector>

#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// The solution v of A v = b for a square A, exactly; nothing when A is singular.
std::optional<std::vector<Rational>> solve(const Matrix& a, const std::vector<Rational>& b);

}  // namespace tempera::reference
