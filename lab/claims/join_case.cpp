#include "lab/claims/join_case.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {

std::vector<JoinCase> read_join_cases(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw BadInput(file, "cannot be read", "name the tree of tempera with --tree");
  std::vector<JoinCase> cases;
  try {
    for (const auto& entry : nlohmann::json::parse(in)) {
      std::vector<reference::Power> powers;
      for (const unsigned power : entry.at("powers"))
        powers.emplace_back(reference::Rational(power), file);
      std::vector<reference::Rational> restart;
      for (const std::string weight : entry.at("restart"))
        restart.push_back(reference::parse_rational(weight, file));
      std::vector<reference::StageSchedule> stages;
      for (const auto& stage : entry.at("stages"))
        stages.push_back({stage.at("rounds"), stage.at("n_local"), stage.at("n_sweep")});
      cases.push_back({entry.at("name"),
                       reference::parse_finite_model(entry.at("model").dump(), file),
                       entry.at("horizon"), reference::Ladder(powers, file),
                       reference::RestartLaw(restart, file), entry.at("n_local"),
                       entry.at("n_sweep"), entry.at("block"), stages});
    }
  } catch (const nlohmann::json::exception& error) {
    throw BadInput(file, error.what(), "write it anew: see docs/explanation/proofs.md, the join");
  }
  return cases;
}

std::vector<NamedMatrix> reference_matrices(const JoinCase& join) {
  const reference::FixedHorizonSpace space(join.model, join.horizon);
  const reference::ComparisonSpace comparison(join.model, join.horizon);
  const reference::ParallelTempering joint(space, join.ladder, join.restart);
  const std::size_t rungs = join.ladder.rungs();
  std::vector<NamedMatrix> matrices;
  for (std::size_t k = 0; k < rungs; ++k)
    matrices.push_back({"local-" + std::to_string(k + 1),
                        reference::fixed_horizon_kernel(space, join.ladder[k], join.restart)});
  for (std::size_t k = 0; k < rungs; ++k)
    matrices.push_back({"truncating-" + std::to_string(k + 1),
                        reference::truncating_kernel(comparison, join.ladder[k])});
  for (std::size_t k = 1; k < rungs; ++k)
    matrices.push_back({"swap-" + std::to_string(k), joint.swap(k).matrix()});
  matrices.push_back({"ordered-sweep", joint.ordered_sweep().matrix()});
  matrices.push_back({"odd-layer", joint.odd_layer().matrix()});
  matrices.push_back({"even-layer", joint.even_layer().matrix()});
  matrices.push_back({"transition", joint.transition(join.n_local, join.n_sweep).matrix()});
  const reference::Law law =
      reference::progressive_law(join.model, join.horizon, join.block, join.ladder, join.stages);
  reference::Matrix row(1, law.size());
  for (std::size_t state = 0; state < law.size(); ++state) row(0, state) = law[state];
  matrices.push_back({"progressive-law", row});
  return matrices;
}

}  // namespace tempera::lab
