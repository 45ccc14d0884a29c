#include "reference/analysis/swap_rate.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/swap.hpp"

namespace tempera::reference {

Rational expected_swap_acceptance(const Law& lower, const Law& upper) {
  const Matrix accepted = swap_acceptance(lower, upper);
  Rational expected = 0;
  for (std::size_t x = 0; x < lower.size(); ++x) {
    for (std::size_t y = 0; y < upper.size(); ++y) {
      expected += lower[x] * upper[y] * accepted(x, y);
    }
  }
  return expected;
}

LadderDiagnosis diagnose_ladder(const FixedHorizonSpace& space, const Ladder& ladder) {
  if (ladder.rungs() < 2) {
    throw BadInput("ladder", "has one rung and so no edge", "give at least two powers");
  }
  LadderDiagnosis diagnosis{};
  std::vector<Law> targets;
  for (std::size_t k = 0; k < ladder.rungs(); ++k)
    targets.push_back(power_target(space, ladder[k]));
  for (std::size_t k = 0; k + 1 < ladder.rungs(); ++k) {
    const Rational a = expected_swap_acceptance(targets[k], targets[k + 1]);
    diagnosis.rejection += (1 - a) / a;
    diagnosis.acceptances.push_back(a);
  }
  const auto [least, greatest] =
      std::minmax_element(diagnosis.acceptances.begin(), diagnosis.acceptances.end());
  diagnosis.weakest = static_cast<std::size_t>(least - diagnosis.acceptances.begin());
  diagnosis.strongest = static_cast<std::size_t>(greatest - diagnosis.acceptances.begin());
  return diagnosis;
}

}  // namespace tempera::reference
