#include "lab/laws/stationary_law.hpp"

#include <stdexcept>

#include "reference/analysis/stationary_law.hpp"
#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera;
using reference::Rational;

TEST_CASE("the lifted stationary law is the one of rational elimination") {
  law("random chains of up to 8 states", [](const std::vector<std::uint16_t>& weights) {
    const std::size_t n = 1 + weights.size() % 8;
    reference::Matrix p(n, n);
    for (std::size_t x = 0; x < n; ++x) {
      Rational total = 0;
      for (std::size_t y = 0; y < n; ++y) {
        const std::size_t i = x * n + y;
        p(x, y) = Rational(1 + (weights.empty() ? 0 : weights[i % weights.size()] * (i + 1)));
        total += p(x, y);
      }
      for (std::size_t y = 0; y < n; ++y) p(x, y) /= total;
    }
    RC_ASSERT(lab::exact_stationary_law(p) == reference::stationary_law(p).value());
  });
}

TEST_CASE("a reducible chain has no unique stationary law") {
  reference::Matrix p(3, 3);
  for (std::size_t x = 0; x < 3; ++x) p(x, x) = 1;
  CHECK_THROWS_AS(lab::exact_stationary_law(p), lab::ReducibleChain);
}

// Every state comes to the first and stays: what is asked for is a law of all states.
TEST_CASE("a last state that others do not reach is refused") {
  reference::Matrix p(2, 2);
  p(0, 0) = p(1, 0) = 1;
  CHECK_THROWS_AS(lab::exact_stationary_law(p), lab::ReducibleChain);
}

TEST_CASE("a law whose fractions would be too long is refused before it is solved for") {
  reference::Matrix p(3, 3);
  for (std::size_t x = 0; x < 3; ++x)
    for (std::size_t y = 0; y < 3; ++y) p(x, y) = Rational(1 + x * y, 3 + 3 * x);
  // Denominators 3, 6 and 9 have one bit, two and three after the first: 6 in all, times 2 squared.
  CHECK_THROWS_WITH(lab::exact_stationary_law(p, 23.0), Catch::Contains("up to 6 bits"));
  CHECK(lab::exact_stationary_law(p, 24.0) == reference::stationary_law(p).value());
}
