#include "reference/analysis/swap_moments.hpp"

#include "base/error.hpp"
#include "reference/kernels/power_target.hpp"

namespace tempera::reference {

std::vector<Rational> energies(const FixedHorizonSpace& space, unsigned base) {
  if (base < 2)
    throw BadInput("base " + std::to_string(base), "has no logarithm to count in", "use 2 or more");
  std::vector<Rational> energies;
  for (std::size_t x = 0; x < space.size(); ++x) {
    Rational rest = space.likelihood(x), energy = 0;
    for (; rest < 1; rest *= base) energy += 1;
    if (rest != 1)
      throw BadInput(space.model().source(),
                     "the probability " + to_string(space.likelihood(x)) + " is not a power of 1/" +
                         std::to_string(base),
                     "use a model whose records have probabilities of that form");
    energies.push_back(energy);
  }
  return energies;
}

Moments moments(const Law& law, const std::vector<Rational>& values) {
  Moments moments{0, 0};
  for (std::size_t x = 0; x < law.size(); ++x) moments.mean += law[x] * values[x];
  for (std::size_t x = 0; x < law.size(); ++x)
    moments.variance += law[x] * (values[x] - moments.mean) * (values[x] - moments.mean);
  return moments;
}

Moments swap_log_ratio_moments(const FixedHorizonSpace& space, const Power& lower,
                               const Power& upper, const std::vector<Rational>& energies) {
  const Moments below = moments(power_target(space, lower), energies);
  const Moments above = moments(power_target(space, upper), energies);
  const Rational gap = upper.value() - lower.value();
  return {gap * (above.mean - below.mean), gap * gap * (below.variance + above.variance)};
}

}  // namespace tempera::reference
