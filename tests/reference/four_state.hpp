#pragma once

#include "reference/analysis/four_state.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"
#include "tests/catch.hpp"

namespace tempera::reference {

inline FiniteModel four_state() { return parse_finite_model(four_state_model, "four-state"); }

inline Matrix matrix_of(const std::vector<std::vector<Rational>>& rows) {
  Matrix matrix(rows.size(), rows.front().size());
  for (std::size_t x = 0; x < rows.size(); ++x) {
    for (std::size_t y = 0; y < rows[x].size(); ++y) matrix(x, y) = rows[x][y];
  }
  return matrix;
}

inline Rational q(const char* text) { return parse_rational(text, "test"); }

}  // namespace tempera::reference
