#include "reference/analysis/power_family.hpp"

#include <algorithm>

namespace tempera::reference {
namespace {

std::vector<Interval> energies_of(const std::vector<Rational>& p0, long bits) {
  std::vector<Interval> energies;
  for (const Rational& p : p0) energies.push_back(Interval(0, bits) - log(Interval(p, bits)));
  return energies;
}

std::vector<Interval> target_of(const std::vector<Rational>& p0, const Rational& s, long bits) {
  std::vector<Interval> masses;
  Interval normalizer(0, bits);
  for (const Rational& p : p0) {
    masses.push_back(power(p, s, bits));
    normalizer = normalizer + masses.back();
  }
  for (Interval& mass : masses) mass = mass / normalizer;
  return masses;
}

Interval mean(const std::vector<Interval>& law, const std::vector<Interval>& values, long bits) {
  Interval sum(0, bits);
  for (std::size_t x = 0; x < law.size(); ++x) sum = sum + law[x] * values[x];
  return sum;
}

}  // namespace

Interval mean_energy(const std::vector<Rational>& p0, const Rational& power, long bits) {
  return mean(target_of(p0, power, bits), energies_of(p0, bits), bits);
}

Interval energy_variance(const std::vector<Rational>& p0, const Rational& power, long bits) {
  // Σ_{x<y} π(x) π(y) (U(x) - U(y))²: no difference of large sums.
  const std::vector<Interval> law = target_of(p0, power, bits);
  const std::vector<Interval> energies = energies_of(p0, bits);
  Interval variance(0, bits);
  for (std::size_t x = 0; x < law.size(); ++x)
    for (std::size_t y = x + 1; y < law.size(); ++y) {
      if (p0[x] == p0[y]) continue;
      const Interval apart = p0[x] < p0[y] ? energies[x] - energies[y] : energies[y] - energies[x];
      variance = variance + law[x] * law[y] * apart * apart;
    }
  return variance;
}

Interval equilibrium_acceptance(const std::vector<Rational>& p0, const Rational& lower,
                                const Rational& upper, long bits) {
  const std::vector<Interval> below = target_of(p0, lower, bits);
  const std::vector<Interval> above = target_of(p0, upper, bits);
  Interval expected(0, bits);
  for (std::size_t x = 0; x < p0.size(); ++x)
    for (std::size_t y = 0; y < p0.size(); ++y) {
      const Interval pair = below[x] * above[y];
      expected = expected + (p0[x] >= p0[y] ? pair
                                            : pair * power(Rational(p0[x] / p0[y]),
                                                           Rational(upper - lower), bits));
    }
  return expected;
}

Interval thermodynamic_distance(const std::vector<Rational>& p0, const Rational& lower,
                                const Rational& upper, unsigned cells, long bits) {
  const auto [least, greatest] = std::minmax_element(p0.begin(), p0.end());
  const Interval range = log(Interval(Rational(*greatest / *least), bits));
  const Rational width = (upper - lower) / cells;
  const Interval step(width, bits);
  Interval distance(0, bits);
  for (unsigned i = 0; i < cells; ++i) {
    const Rational middle = lower + width * i + width / 2;
    distance = distance + step * sqrt(energy_variance(p0, middle, bits));
  }
  const Interval factor = exp(step * range / Interval(4, bits));
  return distance * hull(Interval(1, bits) / factor, factor);
}

Interval gaussian_acceptance(const Interval& distance) {
  return erfc(distance / Interval(2, distance.bits()));
}

}  // namespace tempera::reference
