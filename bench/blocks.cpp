// Rejection by blocks, exactly: how far its answers are from p0^α, and the decode tokens that one
// is expected to take, by the width of the blocks. Rationals to the end; nothing depends on the
// machine.
#include <cstdio>

#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/blockwise_rejection.hpp"
#include "reference/kernels/power_target.hpp"

using namespace tempera::reference;

int main() {
  constexpr std::size_t horizon = 4;
  const Power power(4);
  std::printf("| model | B = 1 | B = 2 | B = 3 | B = 4 |\n|---|---|---|---|---|\n");
  for (const char* name : {"bimodal", "four_state", "late_payoff", "unequal_lengths"}) {
    const FiniteModel model =
        load_finite_model(std::string(TEMPERA_SOURCE_DIR "/toy_models/") + name + ".json");
    const FixedHorizonSpace space(model, horizon);
    const Law target = power_target(space, power);
    std::printf("| `%s` |", name);
    for (std::size_t block = 1; block <= horizon; ++block) {
      const BlockwiseLaw found = blockwise_rejection_law(space, block, power);
      const Rational tv = total_variation(found.answer, target);
      std::printf(" %.2g, %.1f |", tv.convert_to<double>(), found.tokens.convert_to<double>());
    }
    std::printf("\n");
  }
}
