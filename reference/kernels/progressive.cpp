#include "reference/kernels/progressive.hpp"

#include <algorithm>

#include "reference/bad_input.hpp"
#include "reference/kernels/block_extension.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"

namespace tempera::reference {

std::vector<std::size_t> stage_horizons(std::size_t horizon, std::size_t block) {
  if (horizon == 0) throw BadInput("horizon", "is 0", "use a horizon of at least 1");
  if (block == 0) throw BadInput("block", "is 0", "use a block of at least 1 token");
  std::vector<std::size_t> horizons;
  for (std::size_t reached = 0; reached < horizon;) {
    reached += std::min(block, horizon - reached);
    horizons.push_back(reached);
  }
  return horizons;
}

Law stage_target(const FiniteModel& model, std::size_t horizon, std::size_t block,
                 const Ladder& ladder, std::size_t m) {
  const auto horizons = stage_horizons(horizon, block);
  if (m == 0 || m > horizons.size())
    throw BadInput("stage " + std::to_string(m), "is none of them",
                   "give a stage from 1 to " + std::to_string(horizons.size()));
  const FixedHorizonSpace space(model, horizons[m - 1]);
  joint_size(Shape(ladder.rungs(), space.size()));  // refuses what is too large
  std::vector<Law> targets;
  for (std::size_t k = 0; k < ladder.rungs(); ++k)
    targets.push_back(power_target(space, ladder[k]));
  return product_law(targets);
}

Law progressive_law(const FiniteModel& model, std::size_t horizon, std::size_t block,
                    const Ladder& ladder, const std::vector<StageSchedule>& stages) {
  const auto horizons = stage_horizons(horizon, block);
  if (stages.size() != 1 && stages.size() != horizons.size()) {
    throw BadInput(
        "stages", "there are " + std::to_string(stages.size()) + " schedules",
        "give one, or one for each of the " + std::to_string(horizons.size()) + " stages");
  }
  FixedHorizonSpace space(model, 0);
  Law law{Rational(1)};
  for (std::size_t m = 0; m < horizons.size(); ++m) {
    const FixedHorizonSpace longer(model, horizons[m]);
    const ParallelTempering kernels(longer, ladder, RestartLaw::uniform(horizons[m]));

    FactoredKernel extension(Shape(ladder.rungs(), space.size()));
    std::vector<Matrix> extensions;
    for (std::size_t k = 0; k < ladder.rungs(); ++k) {
      extensions.push_back(block_extension(space, longer, ladder[k]));
    }
    extension.then_move(extensions);
    law = extension.apply(law);

    const StageSchedule& stage = stages[stages.size() == 1 ? 0 : m];
    const FactoredKernel round = kernels.transition(stage.local_moves, stage.sweeps);
    for (std::size_t n = 0; n < stage.rounds; ++n) law = round.apply(law);
    space = longer;
  }
  return law;
}

}  // namespace tempera::reference
