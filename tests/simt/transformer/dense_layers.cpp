// All layers of a step in one kernel (dense_layers.cuh), against a kernel for each part of a layer.
#include "gpu/llm/transformer/kernels/cuda/dense_layers.cuh"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/simt/transformer/dense_layers_problem.hpp"
#include "tests/simt/transformer/step_history.hpp"

namespace tempera::dense_layers_test {

using namespace tempera;
using namespace tempera::tests;

namespace {

/// At both sides of a page's and of a split's end.
const std::vector<std::uint32_t> lengths = {300, 256, 1, 16, 513, 257, 40, 17};

}  // namespace

TEST_CASE("all layers in one kernel leave the states and the pages of a kernel for each part") {
  struct Case {
    LayerSizes sizes;
    std::size_t rows;
    bool norms;
    std::uint64_t seeds;
  };
  // Heads that fill no vector, of 1 to 7 queries; inputs of several segments and windows, cut and
  // not; more blocks than jobs; more layers than a launch takes.
  const Case of = GENERATE(
      Case{{40, 56, 8, 2, 24, 3}, 1, true, 3}, Case{{40, 56, 8, 2, 24, 3}, 8, false, 3},
      Case{{64, 1200, 7, 1, 64, 2}, 3, true, 2}, Case{{1048, 24, 5, 1, 128, 2}, 2, false, 2},
      Case{{32, 40, 3, 3, 16, gpu::layers_together + 1}, 1, true, 1},
      Case{{1032, 1544, 2, 1, 72, 1}, 5, true, 1});
  LayersProblem expected(
      of.sizes, {lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(of.rows)}, 5);
  const LayersProblem begin = expected;
  expected.run(gpu::CudaKernels(1), of.norms);
  for (std::uint64_t seed = 1; seed <= of.seeds; ++seed) {
    INFO("hidden " << of.sizes.hidden << ", rows " << of.rows << ", seed " << seed);
    LayersProblem found = begin;
    const gpu::CudaKernels kernels = joined_kernels(seed);
    found.run(kernels, of.norms);
    REQUIRE(differences(found, expected) == 0);
    REQUIRE(kernels.launches() ==
            (of.sizes.layers + gpu::layers_together - 1) / gpu::layers_together);
  }
}

TEST_CASE("however the products of joined layers are cut, the bits stay") {
  const LayerSizes sizes{520, 1100, 3, 1, 24, 2};
  LayersProblem expected(sizes, {256, 300}, 6);
  const LayersProblem begin = expected;
  expected.run(gpu::CudaKernels(1), true);
  std::uint64_t seed = 0;
  for (const gpu::Adding adding : {gpu::Adding::last_block, gpu::Adding::next_kernel}) {
    for (const unsigned units : {1U, 7U}) {
      const gpu::CudaKernels kernels = joined_kernels(++seed);
      cut_products(kernels, begin, units, adding);
      LayersProblem found = begin;
      found.run(kernels, true);
      INFO("adding " << static_cast<unsigned>(adding) << ", units " << units);
      REQUIRE(differences(found, expected) == 0);
      // Again, by the counters that the first has left.
      LayersProblem again = begin;
      again.run(kernels, true);
      REQUIRE(differences(again, expected) == 0);
    }
  }
}

TEST_CASE("whatever is tried of joined layers, the bits stay") {
  using gpu::JoinedTrial;
  const LayerSizes sizes{520, 1100, 3, 1, 24, 2};
  LayersProblem expected(sizes, {256, 300}, 6);
  const LayersProblem begin = expected;
  expected.run(gpu::CudaKernels(1), true);
  std::uint64_t seed = 0;
  const auto require_bits = [&](JoinedTrial trial, gpu::Adding adding) {
    const gpu::CudaKernels kernels = joined_kernels(++seed);
    kernels.device().tried.joined = trial;
    cut_products(kernels, begin, 2, adding);
    INFO("trial " << gpu::name_of(trial) << ", adding " << static_cast<unsigned>(adding));
    // Again, by the counters that the first has left.
    for (int again = 0; again < (trial == JoinedTrial::acquires ? 2 : 1); ++again) {
      LayersProblem found = begin;
      found.run(kernels, true);
      REQUIRE(differences(found, expected) == 0);
    }
  };
  for (const JoinedTrial trial : gpu::joined_trials) require_bits(trial, gpu::Adding::last_block);
  require_bits(JoinedTrial::acquires, gpu::Adding::next_kernel);
}

TEST_CASE("what is tried of joined layers is what blocks ask for") {
  using gpu::JoinedTrial;
  // Six blocks, and attention has three tasks: one row, and three splits of its context.
  const LayersProblem begin({520, 72, 3, 1, 128, 1}, {300}, 6);
  const auto asked_by = [&](JoinedTrial trial) {
    const gpu::CudaKernels kernels = joined_kernels(1);
    kernels.device().tried.joined = trial;
    cut_products(kernels, begin, 1, gpu::Adding::last_block);
    gpu::simt::AskedAhead asked;
    gpu::simt::asked_ahead = &asked;
    LayersProblem(begin).run(kernels, true);
    gpu::simt::asked_ahead = nullptr;
    return asked;
  };
  const auto usual = asked_by(JoinedTrial::none);
  REQUIRE(usual.bytes.size() == 6);
  CHECK(usual.with_copies == 0);
  for (const JoinedTrial trial : gpu::joined_trials) {
    const auto asked = asked_by(trial);
    INFO("trial " << gpu::name_of(trial));
    CHECK((asked.with_copies > 0) == (trial == JoinedTrial::keys_first));
    const bool asks_less = trial == JoinedTrial::idle_blocks || trial == JoinedTrial::less_ahead;
    CHECK((asked.bytes == usual.bytes) == !asks_less);
    for (std::size_t block = 0; block < 6; ++block) {
      CHECK(asked.bytes[block] <= usual.bytes[block]);
      if (trial == JoinedTrial::idle_blocks)
        CHECK((asked.bytes[block] < usual.bytes[block]) == (block < 3));
    }
  }
}

TEST_CASE("layers that one kernel cannot take go by a kernel for each part") {
  const auto launches = [](LayersProblem problem, bool own_records = true) {
    const gpu::CudaKernels kernels = joined_kernels(1);
    LayersProblem expected = problem;
    expected.run(gpu::CudaKernels(1), true, own_records);
    problem.run(kernels, true, own_records);
    CHECK(differences(problem, expected) == 0);
    return kernels.launches();
  };
  const LayerSizes sizes{64, 96, 4, 2, 32, 2};
  CHECK(launches(LayersProblem(sizes, {20, 30}, 1)) == 1);
  CHECK(launches(LayersProblem(sizes, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 1)) > 2);  // nine rows
  CHECK(launches(LayersProblem({64, 96, 2, 1, 256, 2}, {20}, 1)) > 2);        // a large head
  CHECK(launches(LayersProblem(sizes, {20, 30}, 1, "Q8_0")) > 2);             // quants
  CHECK(launches(LayersProblem({20, 96, 4, 2, 32, 2}, {20}, 1)) > 2);         // no whole vectors
  CHECK(launches(LayersProblem(sizes, {20, 30}, 1), false) > 2);              // rows of one record
}

TEST_CASE("products of joined layers leave room for a second block of a multiprocessor") {
  const gpu::ProductDevice hopper{132, 227 * 1024, true};
  gpu::ProductDevice twice = hopper;
  twice.least_blocks = 2;
  const auto shared = [](const gpu::ProductDevice& device) {
    return gpu::plan_product(8, 2560, 6144, 384, false, device).shared_bytes;
  };
  CHECK(shared(hopper) > 113 * 1024);
  CHECK(shared(twice) <= 113 * 1024);
}

TEST_CASE("steps whose layers are joined have the host's tokens and scores, forked, in any slot") {
  const gpu::CudaKernels kernels = joined_kernels(3);
  StepHistory history(kernels, 17);
  for (const std::size_t rows : {1U, 6U, 9U, 2U, 8U, 33U, 7U}) {
    INFO("batch " << rows);
    REQUIRE(history.differences_of_a_batch(rows) == 0);
    const std::uint64_t before = kernels.launches();
    REQUIRE(history.differences_of_a_decode_step() == 0);
    CHECK(kernels.launches() == before + (rows <= 8 ? 1 : 7 * step_config().num_hidden_layers) + 6);
  }
  CHECK(kernels.graph_replays() == kernels.steps());
  REQUIRE(history.differences_of_long_forks() == 0);
  // A trial has a graph of its own.
  REQUIRE(history.differences_of_a_batch(4) == 0);
  for (const gpu::JoinedTrial trial : gpu::joined_trials) {
    kernels.device().tried.joined = trial;
    gpu::simt::AskedAhead asked;
    gpu::simt::asked_ahead = &asked;
    INFO("trial " << gpu::name_of(trial));
    REQUIRE(history.differences_of_a_decode_step() == 0);
    gpu::simt::asked_ahead = nullptr;
    CHECK((asked.with_copies > 0) == (trial == gpu::JoinedTrial::keys_first));
  }
  kernels.device().tried.joined = gpu::JoinedTrial::none;
  // The other form is another graph.
  REQUIRE(history.differences_of_a_batch(4) == 0);
  for (const bool joined : {false, true}) {
    kernels.device().stream.joined = joined;
    const std::uint64_t before = kernels.launches();
    REQUIRE(history.differences_of_a_decode_step() == 0);
    CHECK(kernels.launches() == before + (joined ? 1 : 5 * step_config().num_hidden_layers) + 6);
  }
}

TEST_CASE("the form of a step is found by its first replays, and changes no bit") {
  const gpu::CudaKernels kernels(3, std::nullopt, gpu::StepForm::timed);
  StepHistory history(kernels, 17);
  const std::uint64_t joined = 1 + 6;
  const std::uint64_t separate = 5 * step_config().num_hidden_layers + 6;
  REQUIRE(history.differences_of_a_batch(4) == 0);
  std::vector<std::uint64_t> launches;
  for (int step = 0; step < 50; ++step) {
    const std::uint64_t before = kernels.launches();
    REQUIRE(history.differences_of_a_decode_step() == 0);
    launches.push_back(kernels.launches() - before);
  }
  CHECK(kernels.graph_replays() == kernels.steps());
  // The first step of a shape is both forms, the next ones take turns, and then one form stays. The
  // records come to another shape on the way.
  const auto count = [&](std::uint64_t wanted) { return std::ranges::count(launches, wanted); };
  CHECK(count(joined + separate) <= 2);
  CHECK(count(joined) >= 7);
  CHECK(count(separate) >= 7);
  CHECK(count(joined) + count(separate) + count(joined + separate) == 50);
  for (std::size_t i = 41; i < 50; ++i) CHECK(launches[i] == launches[40]);
  // Steps of more rows have one form.
  REQUIRE(history.differences_of_a_batch(12) == 0);
  REQUIRE(history.differences_of_a_decode_step() == 0);
}

}  // namespace tempera::dense_layers_test
