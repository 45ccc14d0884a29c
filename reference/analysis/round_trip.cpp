#include "reference/analysis/round_trip.hpp"

#include "base/error.hpp"
#include "reference/numbers/linear_system.hpp"

namespace tempera::reference {

void check_acceptances(const EdgeAcceptances& acceptances, const std::string& where) {
  if (acceptances.empty() || acceptances.size() >= round_trip_rung_limit) {
    throw BadInput(where, "there are " + std::to_string(acceptances.size()) + " edges",
                   "give 1 to " + std::to_string(round_trip_rung_limit - 1) + " acceptances");
  }
  for (const Rational& acceptance : acceptances) {
    if (acceptance <= 0 || acceptance > 1) {
      throw BadInput(where, "the acceptance " + to_string(acceptance) + " is not in (0, 1]",
                     "give probabilities above 0 and at most 1");
    }
  }
}

Matrix adj_chain(const EdgeAcceptances& acceptances) {
  const std::size_t rungs = acceptances.size() + 1;
  Matrix chain(rungs, rungs);
  for (std::size_t start = 0; start < rungs; ++start) {
    Law tag = point_mass(rungs, start);
    for (std::size_t edge = 0; edge + 1 < rungs; ++edge) {
      const Rational lower = tag[edge], upper = tag[edge + 1], &a = acceptances[edge];
      tag[edge] = lower * (1 - a) + upper * a;
      tag[edge + 1] = upper * (1 - a) + lower * a;
    }
    for (std::size_t rung = 0; rung < rungs; ++rung) chain(start, rung) = tag[rung];
  }
  return chain;
}

Matrix deo_chain(const EdgeAcceptances& acceptances) {
  const std::size_t rungs = acceptances.size() + 1;
  Matrix chain(2 * rungs, 2 * rungs);
  const auto down = [](std::size_t rung) { return 2 * rung; };
  const auto up = [](std::size_t rung) { return 2 * rung + 1; };
  for (std::size_t rung = 0; rung < rungs; ++rung) {
    if (rung + 1 < rungs) {
      chain(up(rung), up(rung + 1)) = acceptances[rung];
      chain(up(rung), down(rung)) = 1 - acceptances[rung];
    } else {
      chain(up(rung), down(rung)) = 1;
    }
    if (rung > 0) {
      chain(down(rung), down(rung - 1)) = acceptances[rung - 1];
      chain(down(rung), up(rung)) = 1 - acceptances[rung - 1];
    } else {
      chain(down(rung), up(rung)) = 1;
    }
  }
  return chain;
}

std::vector<Rational> expected_hitting_times(const Matrix& chain, std::size_t state) {
  // h(state) = 0 and h(x) = 1 + Σ_y P(x, y) h(y) elsewhere.
  const std::size_t n = chain.rows();
  Matrix equations(n, n);
  std::vector<Rational> right(n);
  for (std::size_t x = 0; x < n; ++x) {
    equations(x, x) = 1;
    if (x == state) continue;
    for (std::size_t y = 0; y < n; ++y) equations(x, y) -= chain(x, y);
    right[x] = 1;
  }
  const auto times = solve(equations, right);
  if (!times) {
    throw BadInput("chain", "state " + std::to_string(state) + " cannot be reached from all others",
                   "give a chain in which it can");
  }
  return *times;
}

RoundTrip adj_round_trip(const EdgeAcceptances& acceptances) {
  const Matrix chain = adj_chain(acceptances);
  const std::size_t bottom = 0, top = acceptances.size();
  return {expected_hitting_times(chain, top)[bottom], expected_hitting_times(chain, bottom)[top]};
}

RoundTrip deo_round_trip(const EdgeAcceptances& acceptances) {
  const Matrix chain = deo_chain(acceptances);
  const std::size_t arrived_at_bottom = 0, arrived_at_top = 2 * acceptances.size() + 1;
  return {expected_hitting_times(chain, arrived_at_top)[arrived_at_bottom],
          expected_hitting_times(chain, arrived_at_bottom)[arrived_at_top]};
}

RoundTrip adj_round_trip_formula(const EdgeAcceptances& acceptances) {
  const std::size_t rungs = acceptances.size() + 1;
  RoundTrip trip{1, rungs - 1};
  for (std::size_t k = 1; k < rungs; ++k) {
    const Rational rho = (1 - acceptances[k - 1]) / acceptances[k - 1];
    trip.up += k * rho;              // eq:ord-up
    trip.down += (rungs - k) * rho;  // eq:ord-down
  }
  return trip;
}

Rational deo_round_trip_formula(const EdgeAcceptances& acceptances) {
  Rational rejection = 0;
  for (const Rational& a : acceptances) rejection += (1 - a) / a;
  return 2 * Rational(acceptances.size() + 1) * (1 + rejection);
}

}  // namespace tempera::reference
