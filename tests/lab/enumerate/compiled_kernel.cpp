#include "lab/enumerate/compiled_kernel.hpp"

#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "lab/enumerate/own_model.hpp"
#include "lab/laws/law.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/progressive.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;
using lab::Rational;

namespace {

/// One round of Algorithm 1 as production runs it: coroutines, engine, batches, swaps.
void one_round(gpu::Chain& run, std::vector<gpu::Record>& replicas, std::size_t horizon) {
  const gpu::Plan plan{{{horizon, 1, 1, 1}}, gpu::Schedule::adj, 0};
  gpu::Progress progress{{}, std::move(replicas)};
  std::vector<gpu::Task> tasks;
  tasks.push_back(gpu::parallel_power_tempering(run, plan, progress));
  run.engine.run(tasks);
  replicas = std::move(progress.replicas);
}

}  // namespace

// What licenses the factored enumeration of lab/law: the kernels one by one, put together by matrix
// products, are the complete round enumerated as one program.
TEST_CASE("the complete round enumerated whole is the product of its enumerated kernels") {
  const auto [name, horizon] =
      GENERATE(table<std::string, std::size_t>({{"four_state", 2}, {"unequal_lengths", 2}}));
  const lab::FiniteLogits logits(shipped(name));
  const lab::CompiledSpace space(logits.enumerable(), horizon);
  lab::CompiledKernel<> kernel(space, gpu::Ladder({1.0, 2.0}), gpu::RestartLaw::uniform(horizon));
  const lab::Matrix factored =
      lab::joint_step({kernel.local_move(0), kernel.local_move(1)}, {kernel.swap(0)});
  for (std::size_t x = 0; x < space.size(); ++x) {
    for (std::size_t y = 0; y < space.size(); ++y) {
      const auto row = kernel.joint_row(
          {x, y}, [h = horizon](gpu::Chain& run, std::vector<gpu::Record>& replicas) {
            one_round(run, replicas, h);
          });
      for (std::size_t next = 0; next < row.size(); ++next)
        REQUIRE(row[next] == factored(x * space.size() + y, next));
    }
  }
  CHECK(kernel.stale().empty());
}

// Algorithm 1 from empty records to the output, all stages, as one program. The bound is lab's
// flow_bound, 1e-11, for each of fewer than 100 outcomes.
TEST_CASE("the whole of Algorithm 1 has the law that the reference computes") {
  const lab::FiniteLogits logits(shipped("unequal_lengths"));
  const std::size_t horizon = 2;
  const lab::CompiledSpace space(logits.enumerable(), horizon);
  const auto powers = GENERATE(std::vector<double>{3.0}, std::vector<double>{1.0, 2.0});
  lab::CompiledKernel<> kernel(space, gpu::Ladder(powers), gpu::RestartLaw::uniform(horizon));
  const gpu::Plan plan{gpu::make_stages(horizon, 1, {1}, {1}, {1}), gpu::Schedule::adj, 0};
  const std::vector<Rational> compiled =
      kernel.joint_row(std::vector<std::size_t>(powers.size(), 0),
                       [&](gpu::Chain& run, std::vector<gpu::Record>& replicas) {
                         gpu::Progress progress;
                         std::vector<gpu::Task> tasks;
                         tasks.push_back(gpu::parallel_power_tempering(run, plan, progress));
                         run.engine.run(tasks);
                         replicas = std::move(progress.replicas);
                       });
  std::vector<reference::Power> exact_powers;
  for (const double power : powers)
    exact_powers.emplace_back(Rational(static_cast<unsigned>(power)));
  const reference::Law exact =
      reference::progressive_law(lab::own_model(logits.enumerable(), horizon, "own"), horizon, 1,
                                 reference::Ladder(exact_powers), {{1, 1, 1}});
  REQUIRE(compiled.size() == exact.size());
  Rational total = 0;
  for (std::size_t s = 0; s < exact.size(); ++s) {
    total += compiled[s];
    CHECK(abs(lab::to_real(compiled[s]) - lab::to_real(exact[s])) < 1e-11);
  }
  CHECK(total == Rational(1));
}
