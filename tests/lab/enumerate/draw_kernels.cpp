// The law of the program whose tokens are drawn by the CUDA kernels, run thread by thread on
// fibers: the same rational matrices as the host's.
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "lab/enumerate/compiled_kernel.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::draw_kernels_test {

using namespace tempera;

namespace {

std::unique_ptr<gpu::RowLottery> by_kernels(std::uint64_t order) {
  return gpu::make_cuda_row_lottery({.blocks = 2, .thread_order = order});
}

/// One round of Algorithm 1 with swaps.
void one_round(gpu::Chain& run, std::vector<gpu::Record>& replicas, std::size_t horizon) {
  const gpu::Plan plan{{{horizon, 1, 1, 1}}, gpu::Schedule::adj, 0};
  gpu::Progress progress{{}, std::move(replicas)};
  std::vector<gpu::Task> tasks;
  tasks.push_back(gpu::parallel_power_tempering(run, plan, progress));
  run.engine.run(tasks);
  replicas = std::move(progress.replicas);
}

}  // namespace

TEST_CASE("local moves through the CUDA draw have the host's rational matrix") {
  const auto [name, horizon] =
      GENERATE(table<std::string, std::size_t>({{"four_state", 3}, {"unequal_lengths", 2}}));
  const lab::FiniteLogits logits(shipped(name));
  const lab::CompiledSpace space(logits.enumerable(), horizon);
  const gpu::Ladder ladder({2.5});
  const auto restart = gpu::RestartLaw::uniform(horizon);
  lab::CompiledKernel<> host(space, ladder, restart, gpu::make_host_row_lottery());
  lab::CompiledKernel<> kernels(space, ladder, restart, by_kernels(3));
  CHECK(kernels.local_move(0) == host.local_move(0));
  CHECK(kernels.stale().empty());
}

TEST_CASE("three rungs with swaps through the CUDA draw have the host's rational matrix") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const std::size_t horizon = 2;
  const lab::CompiledSpace space(logits.enumerable(), horizon);
  const gpu::Ladder ladder({1.0, 2.0, 3.5});
  const auto restart = gpu::RestartLaw::uniform(horizon);
  lab::CompiledKernel<> host(space, ladder, restart, gpu::make_host_row_lottery());
  lab::CompiledKernel<> kernels(space, ladder, restart, by_kernels(5));
  std::vector<lab::Matrix> host_moves;
  std::vector<lab::Matrix> kernel_moves;
  for (gpu::Rung k = 0; k < 3; ++k) {
    host_moves.push_back(host.local_move(k));
    kernel_moves.push_back(kernels.local_move(k));
    CHECK(kernel_moves[k] == host_moves[k]);
  }
  std::vector<lab::Matrix> host_swaps;
  std::vector<lab::Matrix> kernel_swaps;
  for (gpu::Rung k = 0; k < 2; ++k) {
    host_swaps.push_back(host.swap(k));
    kernel_swaps.push_back(kernels.swap(k));
    CHECK(kernel_swaps[k] == host_swaps[k]);
  }
  // The matrices of the moves are different, or equality would say little.
  CHECK(host_moves[0] != host_moves[2]);
  const lab::Matrix whole = lab::joint_step(kernel_moves, kernel_swaps);
  CHECK(whole == lab::joint_step(host_moves, host_swaps));

  // And a round enumerated as one program, its rows drawn in batches of three.
  const std::vector<std::size_t> from{0, space.size() - 1, 1};
  const auto row = kernels.joint_row(from, [](gpu::Chain& run, std::vector<gpu::Record>& replicas) {
    one_round(run, replicas, horizon);
  });
  const std::size_t joint = (from[0] * space.size() + from[1]) * space.size() + from[2];
  for (std::size_t next = 0; next < row.size(); ++next) REQUIRE(row[next] == whole(joint, next));
  CHECK(kernels.stale().empty());
}

}  // namespace tempera::draw_kernels_test
