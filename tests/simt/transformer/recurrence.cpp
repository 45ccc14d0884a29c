// The two kernels of a recurrent layer on fibers against the host's form of tensor-core: answers
// and every byte of every state, for records that begin, go on, cross checkpoints and share them.
#include "gpu/llm/transformer/kernels/cuda/recurrence.cuh"

#include "tests/catch.hpp"
#include "tests/simt/transformer/planted_barriers.hpp"
#include "tests/simt/transformer/recurrence_problem.hpp"

namespace tempera::recurrence_test {

using namespace tempera;
using namespace tempera::tests;

TEST_CASE("recurrent layers of 1 to 64 records have the host's bits, forked, in any slot") {
  const auto shape = shape_of(2, 4, 5, 19, 4);
  for (std::uint32_t batch = 1; batch <= 64; ++batch) {
    std::vector<Stretch> records;
    for (std::uint32_t i = 0; i < batch; ++i) {
      // A decode step, and every eighth time a pass of several rows each.
      records.push_back({(i * 37 + batch) % 193, batch % 8 == 0 ? 1 + i % 3 : 1});
    }
    const LayerProblem problem(shape, records, batch);
    simt::Stream stream{.seed = batch};
    INFO("batch " << batch);
    REQUIRE((problem.by_kernels(stream, gpu::launch_recurrence) == problem.by_host()));
    REQUIRE(stream.launches == 2);
  }
}

TEST_CASE("recurrent layers of any shape have the host's bits across checkpoints") {
  // Shared keys, one head, more columns than threads, whole vectors, one tap beside the own, and
  // tiled answers.
  const auto shape =
      GENERATE(shape_of(2, 4, 5, 19, 4), shape_of(1, 1, 3, 7, 2), shape_of(1, 2, 4, 144, 3),
               shape_of(2, 2, 16, 32, 8), tiled(shape_of(2, 6, 3, 7, 4)));
  const LayerProblem problem(shape, stretches, 11);
  const auto expected = problem.by_host();
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    simt::Stream stream{.seed = seed};
    INFO("heads of " << shape.key_dim << " by " << shape.value_dim);
    REQUIRE((problem.by_kernels(stream, gpu::launch_recurrence) == expected));
  }
}

TEST_CASE("planted: each barrier of a recurrent layer removed, and a wait one short, show") {
  // The checkpoint is inside a group of tokens, whose own barrier would hide that after it.
  const LayerProblem problem(shape_of(2, 4, 5, 19, 4), {{61, 13}, {3, 9}, {64, 2}}, 5);
  const auto expected = problem.by_host();
  simt::Stream sound;
  REQUIRE((problem.by_kernels(sound, gpu::launch_recurrence) == expected));
  require_every_barrier(sound, 4, "recurrence.cuh", [&](const simt::PlantedDefect& defect) {
    return shows_under_a_seed(defect, 20, [&](simt::Stream& stream) {
      return problem.by_kernels(stream, gpu::launch_recurrence) != expected;
    });
  });
}

TEST_CASE("planted: a checkpoint that is stale, or that of another record, shows in what follows") {
  const LayerProblem problem(shape_of(2, 4, 5, 19, 4), {{128, 3}, {64, 2}}, 9);
  const auto expected = problem.by_host();
  for (const std::size_t entry : {0U, 1U}) {
    LayerProblem stale = problem;
    // The record that begins at 128 reads the state before the right one; the other one's.
    const std::size_t record = stale.positions[0] == 128 ? 0 : 1;
    stale.table[stale.first_state[record] + 1] =
        entry == 0 ? stale.table[stale.first_state[record]]
                   : stale.table[stale.first_state[1 - record] + 1];
    simt::Stream stream;
    CHECK(stale.by_kernels(stream, gpu::launch_recurrence) != expected);
  }
}

}  // namespace tempera::recurrence_test
