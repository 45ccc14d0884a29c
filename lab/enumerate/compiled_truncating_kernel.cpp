#include "lab/enumerate/compiled_truncating_kernel.hpp"

#include <optional>

#include "base/error.hpp"
#include "gpu/core/sampler/truncating_move.hpp"
#include "lab/enumerate/canonical_records.hpp"
#include "lab/enumerate/tree_lottery.hpp"

namespace tempera::lab {

reference::Matrix compiled_truncating_kernel(const EnumerableModel& model,
                                             const reference::ComparisonSpace& space,
                                             double power) {
  const gpu::Ladder ladder({power});
  CanonicalRecords canonical(model, ladder);
  reference::Matrix matrix(space.size(), space.size());
  for (std::size_t s = 0; s < space.size(); ++s) {
    std::optional<gpu::Record> x;
    enumerate(
        [&](gpu::Lottery& tree) {
          x = canonical.copy(space[s].tokens, space.horizon());
          gpu::Engine engine(model.model, canonical.rows(), tree);
          gpu::Chain chain{engine, model.context, ladder};
          std::vector<gpu::Task> tasks;
          tasks.push_back(
              gpu::truncating_move(*x, gpu::Turn(chain, 0, 0, gpu::Purpose::proposal_token)));
          engine.run(tasks);
        },
        [&](const Rational& probability) {
          if (!canonical.stale_parts(*x).empty())
            throw Bug("a truncating move leaves a stale record at " + space.name(s));
          matrix(s, space.find(x->token_ids()).value()) += probability;
        });
  }
  return matrix;
}

}  // namespace tempera::lab
