#include "reference/analysis/total_variation.hpp"

namespace tempera::reference {

Rational total_variation(const Law& mu, const Law& nu) {
  Rational sum = 0;
  for (std::size_t x = 0; x < mu.size(); ++x) sum += abs(Rational(mu[x] - nu[x]));
  return sum / 2;
}

std::vector<Rational> total_variation_curve(const std::vector<FactoredKernel>& schedule,
                                            std::size_t start, const Law& target,
                                            std::size_t steps) {
  Law law = point_mass(target.size(), start);
  std::vector<Rational> curve{total_variation(law, target)};
  for (std::size_t n = 0; n < steps; ++n) {
    law = schedule[n % schedule.size()].apply(law);
    curve.push_back(total_variation(law, target));
  }
  return curve;
}

}  // namespace tempera::reference
