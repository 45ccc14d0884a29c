#include "reference/kernels/progressive.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "reference/kernels/block_extension.hpp"
#include "reference/kernels/decode_tokens.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/kernels/truncating_kernel.hpp"

namespace tempera::reference {
namespace {

void check_stages(const std::vector<StageSchedule>& stages, std::size_t count) {
  if (stages.size() == 1 || stages.size() == count) return;
  throw BadInput("stages", "there are " + std::to_string(stages.size()) + " schedules",
                 "give one, or one for each of the " + std::to_string(count) + " stages");
}

const StageSchedule& of_stage(const std::vector<StageSchedule>& stages, std::size_t m) {
  return stages[stages.size() == 1 ? 0 : m];
}

/// Spreads `mass` on the records of the space that continue `tokens` by g_α until they terminate or
/// reach `horizon`.
void extend(const ComparisonSpace& space, const Power& power, std::size_t horizon,
            std::vector<Token>& tokens, const Rational& mass, Law& law) {
  if (mass == 0) return;
  if ((!tokens.empty() && space.model().is_terminal(tokens.back())) || tokens.size() >= horizon) {
    law[*space.find(tokens)] += mass;
    return;
  }
  const TokenRow proposal = token_proposal(space.model().token_row(tokens), power);
  for (Token v = 0; v < proposal.size(); ++v) {
    tokens.push_back(v);
    extend(space, power, horizon, tokens, mass * proposal[v], law);
    tokens.pop_back();
  }
}

/// Σ_x law(x) tokens(x).
template <class Tokens>
Rational expected(const RecordSpace& space, const Law& law, const Tokens& tokens) {
  Rational sum = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    if (law[x] != 0) sum += law[x] * tokens(space[x]);
  return sum;
}

}  // namespace

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
                    const Ladder& ladder, const std::vector<StageSchedule>& stages,
                    Schedule schedule) {
  return progressive_run(model, horizon, block, ladder, stages, schedule).law;
}

ProgressiveRun progressive_run(const FiniteModel& model, std::size_t horizon, std::size_t block,
                               const Ladder& ladder, const std::vector<StageSchedule>& stages,
                               Schedule schedule, const StageRestart& restart) {
  const auto horizons = stage_horizons(horizon, block);
  check_stages(stages, horizons.size());
  FixedHorizonSpace space(model, 0);
  ProgressiveRun run{{Rational(1)}, 0};
  Law& law = run.law;
  std::vector<DecodeTokens> tokens;
  for (std::size_t k = 0; k < ladder.rungs(); ++k) tokens.emplace_back(model, ladder[k]);
  // What rung k is expected to take for a step from the records that the law holds.
  const auto count = [&](const auto& of_record) {
    const Shape shape(ladder.rungs(), space.size());
    for (std::size_t k = 0; k < ladder.rungs(); ++k)
      run.decode_tokens += expected(space, marginal(law, shape, k),
                                    [&](const Record& x) { return of_record(tokens[k], x); });
  };
  std::size_t sweeps = 0;
  for (std::size_t m = 0; m < horizons.size(); ++m) {
    const FixedHorizonSpace longer(model, horizons[m]);
    const RestartLaw positions = RestartLaw::in_parts(restart.weights, horizons[m]);
    const ParallelTempering kernels(longer, ladder, positions, restart.range);

    FactoredKernel extension(Shape(ladder.rungs(), space.size()));
    std::vector<Matrix> extensions;
    for (std::size_t k = 0; k < ladder.rungs(); ++k) {
      extensions.push_back(block_extension(space, longer, ladder[k]));
    }
    extension.then_move(extensions);
    count(
        [&](DecodeTokens& of, const Record& x) { return of.continuation(x.tokens, horizons[m]); });
    law = extension.apply(law);
    space = longer;

    const StageSchedule& stage = of_stage(stages, m);
    for (std::size_t n = 0; n < stage.rounds; ++n) {
      for (std::size_t a = 0; a < stage.local_moves; ++a) {
        count([&](DecodeTokens& of, const Record& x) {
          return of.local_move(x, positions, restart.range);
        });
        law = kernels.local_sweep().apply(law);
      }
      for (std::size_t b = 0; b < stage.sweeps; ++b)
        law = kernels.sweep(schedule, sweeps++).apply(law);
    }
  }
  return run;
}

Law truncating_progressive_law(const FiniteModel& model, std::size_t horizon, std::size_t block,
                               const Power& power, const std::vector<StageSchedule>& stages) {
  return truncating_progressive_run(model, horizon, block, power, stages).law;
}

ProgressiveRun truncating_progressive_run(const FiniteModel& model, std::size_t horizon,
                                          std::size_t block, const Power& power,
                                          const std::vector<StageSchedule>& stages) {
  const auto horizons = stage_horizons(horizon, block);
  check_stages(stages, horizons.size());
  const ComparisonSpace space(model, horizon);
  const FactoredKernel move(truncating_kernel(space, power));
  DecodeTokens tokens(model, power);
  ProgressiveRun run{Law(space.size()), 0};
  Law& ended = run.law;
  Law going(space.size());
  for (std::size_t m = 0; m < horizons.size(); ++m) {
    Law extended(space.size());
    std::vector<Token> record;
    if (m == 0) {
      extend(space, power, horizons[m], record, 1, extended);
      run.decode_tokens += tokens.continuation({}, horizons[m]);
    }
    for (std::size_t x = 0; m > 0 && x < space.size(); ++x) {
      record = space[x].tokens;
      extend(space, power, horizons[m], record, going[x], extended);
      run.decode_tokens += going[x] * tokens.continuation(space[x].tokens, horizons[m]);
    }
    const StageSchedule& stage = of_stage(stages, m);
    going = std::move(extended);
    for (std::size_t a = 0; a < stage.rounds * stage.local_moves; ++a) {
      run.decode_tokens +=
          expected(space, going, [&](const Record& x) { return tokens.truncating_move(x); });
      going = move.apply(going);
    }
    for (std::size_t x = 0; x < space.size(); ++x) {
      if (!space[x].terminated && m + 1 < horizons.size()) continue;
      ended[x] += going[x];
      going[x] = 0;
    }
  }
  return run;
}

}  // namespace tempera::reference
