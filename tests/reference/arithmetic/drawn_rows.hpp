#pragma once

#include <algorithm>
#include <vector>

#include "reference/arithmetic/rounding.hpp"
#include "tests/law.hpp"

namespace tempera::reference::random {

/// A row of 1 to 40 float32s of one size, with some of another, ties and zeros among them.
inline std::vector<Rational> row() {
  const int size = *rc::gen::inRange(-40, 40);
  const auto bits = *rc::gen::element(1, 4, 12, 24);
  std::vector<Rational> row(static_cast<std::size_t>(*rc::gen::inRange(1, 40)));
  for (auto& x : row) {
    const int significand = *rc::gen::inRange(-(1 << bits), (1 << bits) + 1);
    const int outlier = *rc::gen::weightedElement<int>({{20, 0}, {1, 10}, {1, -14}});
    x = Rational(significand) * power_of_two(size + outlier - bits);
  }
  return row;
}

}  // namespace tempera::reference::random
