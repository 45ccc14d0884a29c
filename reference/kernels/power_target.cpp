#include "reference/kernels/power_target.hpp"

namespace tempera::reference {
namespace {

// eq:theory-power-target; a law that is zero somewhere stays zero there.
Law powered(Law law, const Power& power) {
  Rational normalizer = 0;
  for (Rational& mass : law) {
    mass = power.raise(mass);
    normalizer += mass;
  }
  for (Rational& mass : law) mass /= normalizer;
  return law;
}

}  // namespace

Law base_law(const FixedHorizonSpace& space) {
  Law law;
  for (std::size_t x = 0; x < space.size(); ++x) law.push_back(space.likelihood(x));
  return law;
}

Law base_law(const ComparisonSpace& space) {
  Law law;
  for (std::size_t x = 0; x < space.size(); ++x) {
    law.push_back(space.in_fixed_horizon_space(x) ? space.likelihood(x) : Rational(0));
  }
  return law;
}

Law power_target(const FixedHorizonSpace& space, const Power& power) {
  return powered(base_law(space), power);
}

Law power_target(const ComparisonSpace& space, const Power& power) {
  return powered(base_law(space), power);
}

}  // namespace tempera::reference
