#include "lab/stationary_law.hpp"

#include <stdexcept>

#include "reference/analysis/stationary_law.hpp"
#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera;
using reference::Rational;

TEST_CASE("the stationary law modulo primes is the one of rational elimination") {
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
  CHECK_THROWS_AS(lab::exact_stationary_law(p), std::domain_error);
}
