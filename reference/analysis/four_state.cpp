#include "reference/analysis/four_state.hpp"

#include <algorithm>

namespace tempera::reference {
namespace {
const Rational start_tv = Rational(5, 6);
}

Rational four_state_fixed_tv(unsigned n) {
  if (n == 0) return start_tv;
  return Rational(2, 3) * integer_power(Rational(5, 8), n);
}

Rational four_state_truncating_tv(unsigned n) {
  if (n == 0) return start_tv;
  const Rational valid = Rational(1, 6) + Rational(1, 3) * integer_power(Rational(3, 4), n);
  return std::max(valid, four_state_censored_mass(n));
}

Rational four_state_censored_mass(unsigned n) {
  return Rational(1, 2) - Rational(2, 3) * integer_power(Rational(3, 4), n);
}

}  // namespace tempera::reference
