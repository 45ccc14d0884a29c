#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_launch.hpp"
#include "tests/catch.hpp"
#include "tests/simt/transformer/planted_barriers.hpp"
#include "tests/simt/transformer/product_problem.hpp"

using namespace tempera;
using namespace tempera::tests;
namespace simt = tempera::gpu::simt;

namespace {

constexpr unsigned all_rows = 70;

std::vector<unsigned> some_rows(unsigned count, unsigned seed) {
  std::vector<unsigned> rows(all_rows);
  std::iota(rows.begin(), rows.end(), 0U);
  std::mt19937 random(seed);
  if (seed > 1) std::shuffle(rows.begin(), rows.end(), random);
  rows.resize(count);
  return rows;
}

gpu::ProductPlan plan_for(const Problem& problem, unsigned rows, unsigned multiprocessors) {
  return gpu::plan_product(rows, problem.in, problem.out, (problem.out + 15) / 16, false,
                           {multiprocessors, hopper_shared_bytes});
}

/// What `stored` gives, added to zeros: what is added twice shows.
Floats added(const Problem& problem, const std::vector<unsigned>& rows,
             const gpu::ProductPlan& plan, simt::Stream& stream) {
  Floats outputs(rows.size() * problem.out);
  run_product(stream, plan, problem.fragments, problem.inputs_of(rows),
              gpu::AddProduct{outputs.data()});
  return outputs;
}

}  // namespace

TEST_CASE("a product has the contract's bits for every batch, slot, cut and thread order") {
  // Sizes that fill no tile, no step, no segment, and rows that are not aligned.
  const auto [in, out] = GENERATE(table<unsigned, unsigned>(
      {{1328, 40}, {24, 16}, {512, 7}, {1030, 24}, {2560, 16}, {16, 130}}));
  const Problem problem(in, out, in + out);
  std::uint64_t seed = 1;
  for (const unsigned count : {1U, 3U, 8U, 9U, 16U, 17U, 32U, 33U, 64U, 70U}) {
    for (const unsigned multiprocessors : {1U, 7U}) {
      const auto rows = some_rows(count, static_cast<unsigned>(seed));
      simt::Stream stream{++seed};
      const auto plan = plan_for(problem, count, multiprocessors);
      const auto outputs = stored(problem, rows, plan, stream);
      INFO("in " << in << ", out " << out << ", rows " << count);
      REQUIRE(different(outputs, problem.expected_of(rows)) == 0);
      REQUIRE(stream.launches == (plan.adding == gpu::Adding::next_kernel ? 2 : 1));
    }
  }
}

TEST_CASE(
    "a product by Ampere's tensor cores has the contract's bits for every batch, slot and cut") {
  const auto [in, out] = GENERATE(table<unsigned, unsigned>({{1328, 40}, {24, 16}, {1030, 24}}));
  const Problem problem(in, out, in + out);
  std::uint64_t seed = 1;
  std::size_t other_bits = 0;
  for (const unsigned count : {1U, 8U, 9U, 33U, 64U}) {
    for (const unsigned multiprocessors : {1U, 7U}) {
      const auto rows = some_rows(count, static_cast<unsigned>(seed));
      simt::Stream stream{++seed};
      stream.takes_ampere_steps = true;
      const auto outputs = stored(problem, rows, plan_for(problem, count, multiprocessors), stream);
      Floats expected;
      for (const unsigned row : rows)
        for (unsigned o = 0; o < out; ++o)
          expected.push_back(contract_product({&problem.weights[std::size_t{o} * in], in},
                                              {&problem.inputs[std::size_t{row} * in], in}, 512,
                                              gpu::ampere_step));
      INFO("in " << in << ", out " << out << ", rows " << count);
      REQUIRE(different(outputs, expected) == 0);
      other_bits += different(outputs, problem.expected_of(rows));
    }
  }
  // Hopper's bits are others: a product that took its steps would be seen.
  CHECK(other_bits > 0);
}

TEST_CASE("however a product is cut, its bits stay") {
  const Problem problem(1600, 56, 3);
  for (const unsigned count : {5U, 12U, 40U}) {
    const auto rows = some_rows(count, 9);
    using gpu::Adding;
    std::set<std::vector<unsigned>> cuts;
    for (unsigned part_segments = 1; part_segments <= 4; ++part_segments) {
      for (const unsigned units : {1U, 3U}) {
        for (unsigned window = 1; window <= (count <= 16 ? part_segments : 1); ++window) {
          gpu::ProductPlan plan = plan_for(problem, count, 5);
          plan.part_segments = part_segments;
          plan.parts = (plan.segments + part_segments - 1) / part_segments;
          plan.job_units = units;
          plan.window = window;
          plan.shared_bytes = hopper_shared_bytes;
          plan.blocks = std::min(plan.jobs(), 5U);
          for (const Adding adding : {Adding::own_block, Adding::last_block, Adding::next_kernel}) {
            if ((adding == Adding::own_block) != (plan.parts == 1)) continue;
            plan.adding = adding;
            simt::Stream stream{part_segments + 10 * units + 100 * window};
            REQUIRE(different(stored(problem, rows, plan, stream), problem.expected_of(rows)) == 0);
            REQUIRE(stream.launches == (adding == Adding::next_kernel ? 2 : 1));
            cuts.insert({plan.parts, units, window, static_cast<unsigned>(adding)});
          }
        }
      }
    }
    REQUIRE(cuts.size() >= 10);
  }
}

TEST_CASE("a second kernel adds for every epilogue, and reads what its plan says") {
  const Problem gate(1100, 24, 51);
  const Problem up(1100, 24, 52);
  using gpu::Adding;
  constexpr unsigned multiprocessors = 2;
  for (const unsigned count : {3U, 20U, 50U}) {
    const auto rows = some_rows(count, count);
    INFO("rows " << count);
    for (const bool gated : {false, true}) {
      gpu::ProductPlan plan = gpu::plan_product(count, gate.in, gate.out, gated ? 4 : 2, gated,
                                                {2, hopper_shared_bytes});
      plan.part_segments = 1;
      plan.parts = plan.segments;
      plan.window = 1;
      plan.shared_bytes = hopper_shared_bytes;
      plan.blocks = 2;
      for (const Adding adding : {Adding::last_block, Adding::next_kernel}) {
        plan.adding = adding;
        std::vector<std::uint64_t> loads;
        simt::loads_shared_by_blocks = &loads;
        simt::Stream stream{count};
        const Floats expected = gate.expected_of(rows);
        if (gated) {
          std::vector<std::uint32_t> both = gate.fragments;
          both.insert(both.end(), up.fragments.begin(), up.fragments.end());
          Bfloat16s found(count * gate.out, 0x7FC0);
          run_product(stream, plan, both, gate.inputs_of(rows), gpu::GateProduct{found.data()});
          const Floats ups = [&] {
            Floats all;
            for (const unsigned row : rows)
              for (unsigned o = 0; o < up.out; ++o)
                all.push_back(contract_product({&up.weights[std::size_t{o} * up.in], up.in},
                                               {&gate.inputs[std::size_t{row} * up.in], up.in}));
            return all;
          }();
          Bfloat16s answers;
          for (std::size_t i = 0; i < expected.size(); ++i)
            answers.push_back(gpu::to_bfloat16(
                expected[i] / (1.0f + gpu::float32_exponential(-expected[i])) * ups[i]));
          REQUIRE(different(found, answers) == 0);
        } else {
          Floats logits(count * gate.out);
          Floats maxima(count * 2);
          run_product(stream, plan, gate.fragments, gate.inputs_of(rows),
                      gpu::StoreLogits{logits.data(), maxima.data()});
          REQUIRE(different(logits, expected) == 0);
          for (std::size_t tile = 0; tile < maxima.size(); ++tile) {
            const float* const first = &logits[tile / 2 * gate.out + tile % 2 * 16];
            REQUIRE(maxima[tile] == *std::max_element(first, first + (tile % 2 == 0 ? 16 : 8)));
          }
          REQUIRE(different(added(gate, rows, plan, stream), expected) == 0);
        }
        simt::loads_shared_by_blocks = nullptr;
        // What the busiest multiprocessor reads, of one product or of two alike.
        const std::uint64_t products = gated ? 1 : 2;
        const auto second = gpu::second_phase(plan, gated, multiprocessors);
        const std::uint64_t all = std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
        CHECK(all == products * plan.scratch_floats());
        const std::uint64_t busiest = *std::max_element(loads.begin(), loads.end());
        if (adding == Adding::next_kernel) {
          CHECK(loads.size() == plan.adding_blocks(gated));
          const std::uint64_t blocks = (loads.size() + multiprocessors - 1) / multiprocessors;
          CHECK(blocks * busiest <= products * second.sums);
          if (loads.size() > 1)
            CHECK(busiest == products * gpu::product_threads * plan.segments * (gated ? 2 : 1));
        } else {
          CHECK(busiest <= products * second.sums);
          CHECK(busiest * multiprocessors >= all);
        }
      }
    }
  }
}

TEST_CASE("where a block has less shared memory, ring and chunks are smaller and no bit changes") {
  // The limits of compute capability 8.9 and of 8.0, and the least that any product fits.
  const std::size_t limit = GENERATE(99 * 1024, 163 * 1024, 60 * 1024);
  const Problem problem(1328, 40, 17);
  const Problem single(200, 24, 18);
  std::set<std::pair<unsigned, unsigned>> forms;
  for (const unsigned count : {1U, 9U, 17U, 33U, 70U}) {
    const auto rows = some_rows(count, count + 1);
    for (const Problem* one : {&problem, &single}) {
      const auto plan =
          gpu::plan_product(count, one->in, one->out, (one->out + 15) / 16, false, {3, limit});
      REQUIRE(plan.shared_bytes <= limit);
      simt::Stream stream{count};
      INFO("limit " << limit << ", rows " << count << ", stages " << plan.stages << ", tiles "
                    << plan.token_tiles);
      REQUIRE(different(stored(*one, rows, plan, stream), one->expected_of(rows)) == 0);
      forms.emplace(plan.token_tiles, plan.stages);
    }
    // A stage that is read before it is there holds poison, however deep the ring.
    const auto plan = gpu::plan_product(count, problem.in, problem.out, 3, false, {3, limit});
    simt::Stream short_wait{count, 0, {.wait_one_short = true}, {}};
    REQUIRE_THROWS_AS(stored(problem, rows, plan, short_wait), simt::LaunchFailure);
    // Gate and up together need the most room.
    const auto gated = gpu::plan_product(count, 200, 24, 4, true, {3, limit});
    REQUIRE(gated.shared_bytes <= limit);
    REQUIRE(gated.unit_tiles == 2);
  }
  if (limit != 60 * 1024)
    REQUIRE(forms == std::set<std::pair<unsigned, unsigned>>{{1, 4}, {2, 4}, {4, 4}});
  if (limit == 60 * 1024) REQUIRE(forms == std::set<std::pair<unsigned, unsigned>>{{1, 3}});
}

TEST_CASE("a device with too little shared memory for any product is refused in one line") {
  REQUIRE_THROWS_AS(gpu::plan_product(5, 2560, 6144, 384, false, {132, 48 * 1024}),
                    tempera::BadInput);
  REQUIRE_THROWS_WITH(
      gpu::plan_product(5, 2560, 6144, 384, false, {132, 48 * 1024}),
      Catch::Contains("the device: it gives a block 49152 bytes of shared memory") &&
          Catch::Contains("cmake --preset release"));
}

TEST_CASE("a product takes a bias, is added to the stream, and gated after its activation") {
  std::mt19937 random(5);
  const Problem gate(600, 24, 11);
  Problem up(600, 24, 12);
  for (const unsigned count : {2U, 11U, 30U, 50U}) {
    const auto rows = some_rows(count, count);
    const Floats before = random_floats(count * gate.out, 1.0f, random);
    Floats states = before;
    simt::Stream stream{count};
    run_product(stream, plan_for(gate, count, 3), gate.fragments, gate.inputs_of(rows),
                gpu::AddProduct{states.data()});
    Floats expected = gate.expected_of(rows);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = before[i] + expected[i];
    REQUIRE(different(states, expected) == 0);

    const Floats bias = random_floats(gate.out, 1.0f, random);
    run_product(stream, plan_for(gate, count, 3), gate.fragments, gate.inputs_of(rows),
                gpu::StoreProduct{states.data(), bias.data()});
    expected = gate.expected_of(rows);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += bias[i % gate.out];
    REQUIRE(different(states, expected) == 0);

    std::vector<std::uint32_t> both = gate.fragments;
    both.insert(both.end(), up.fragments.begin(), up.fragments.end());
    const auto plan =
        gpu::plan_product(count, gate.in, gate.out, 4, true, {3, hopper_shared_bytes});
    Bfloat16s gated(count * gate.out, 0x7FC0);
    run_product(stream, plan, both, gate.inputs_of(rows), gpu::GateProduct{gated.data()});
    REQUIRE(different(gated, gated_results(gate, up, rows)) == 0);
  }
}

TEST_CASE("the head leaves logits and the largest of every 16, NaN where one is not a number") {
  Problem head(200, 50, 21);
  // Row 4 overflows upwards in output 20: +infinity is an error that the lottery must see.
  for (unsigned i = 0; i < head.in; ++i) {
    head.weights[20 * head.in + i] = gpu::to_bfloat16(0x1p+100f);
    head.inputs[4 * head.in + i] = gpu::to_bfloat16(0x1p+40f);
  }
  head.fragments = packed_fragments(head.weights, head.out, head.in);
  const std::vector<unsigned> rows = {3, 4, 5};
  Floats logits(rows.size() * head.out);
  Floats maxima(rows.size() * 4);
  simt::Stream stream;
  run_product(stream, plan_for(head, 3, 2), head.fragments, head.inputs_of(rows),
              gpu::StoreLogits{logits.data(), maxima.data()});
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (unsigned tile = 0; tile < 4; ++tile) {
      const float* first = &logits[row * head.out + tile * 16];
      const float expected = *std::max_element(first, first + (tile == 3 ? 2 : 16));
      const float found = maxima[row * 4 + tile];
      if (row == 1 && tile == 1) {
        REQUIRE(found != found);
      } else {
        REQUIRE(found == expected);
      }
    }
  }
}

TEST_CASE("the head has the contract's bits for every number of tiles of tokens") {
  const Problem head(200, 50, 23);
  for (const unsigned count : {8U, 16U, 32U, 64U}) {
    const auto rows = some_rows(count, count);
    Floats logits(rows.size() * head.out);
    Floats maxima(rows.size() * 4);
    simt::Stream stream{count};
    run_product(stream, plan_for(head, count, 2), head.fragments, head.inputs_of(rows),
                gpu::StoreLogits{logits.data(), maxima.data()});
    REQUIRE(different(logits, head.expected_of(rows)) == 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const float* const first = &logits[row * head.out + 48];
      REQUIRE(maxima[row * 4 + 3] == std::max(first[0], first[1]));
    }
  }
}

TEST_CASE("a row whose every logit is -infinity has -infinity for the largest of every tile") {
  Problem head(40, 18, 22);
  for (auto& weight : head.weights) weight = gpu::to_bfloat16(0x1p+100f);
  for (unsigned i = 0; i < head.in; ++i) head.inputs[head.in + i] = gpu::to_bfloat16(-0x1p+40f);
  head.fragments = packed_fragments(head.weights, head.out, head.in);
  const std::vector<unsigned> rows = {1};
  Floats logits(head.out);
  Floats maxima(2);
  simt::Stream stream;
  run_product(stream, plan_for(head, 1, 2), head.fragments, head.inputs_of(rows),
              gpu::StoreLogits{logits.data(), maxima.data()});
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  CHECK(logits == Floats(head.out, nothing));
  CHECK(maxima == Floats(2, nothing));  // the second tile has two outputs of its 16
}

TEST_CASE("planted: each barrier of the product removed, and a wait one short, show") {
  const Problem large(1600, 40, 31);
  const Problem small(544, 16, 32);
  simt::Stream sound{1};
  const auto rows = some_rows(5, 2);
  struct Case {
    const Problem& problem;
    gpu::ProductPlan plan;
    std::uint64_t seeds;
  };
  std::vector<Case> cases;
  const auto add_case = [&](const Problem& problem, unsigned part_segments, unsigned window,
                            std::uint64_t seeds) {
    gpu::ProductPlan plan = plan_for(problem, 5, 2);
    plan.part_segments = part_segments;
    plan.parts = (plan.segments + part_segments - 1) / part_segments;
    plan.job_units = std::min(2U, plan.units);
    plan.window = window;
    plan.adding = plan.parts == 1 ? gpu::Adding::own_block : gpu::Adding::last_block;
    plan.shared_bytes = hopper_shared_bytes;
    plan.blocks = 2;
    cases.push_back({problem, plan, seeds});
    REQUIRE(different(added(problem, rows, plan, sound), problem.expected_of(rows)) == 0);
  };
  add_case(large, 2, 2, 2);
  add_case(large, 4, 2, 2);
  add_case(large, 4, 1, 2);
  add_case(small, 1, 1, 100);  // two short parts whose blocks meet at the counter
  require_every_barrier(sound, 6, "product.cuh", [&](const simt::PlantedDefect& defect) {
    return std::any_of(cases.begin(), cases.end(), [&](const auto& one) {
      return shows_under_a_seed(defect, one.seeds, [&](simt::Stream& stream) {
        return different(added(one.problem, rows, one.plan, stream),
                         one.problem.expected_of(rows)) != 0;
      });
    });
  });
}

TEST_CASE("planted: a segment boundary moved, and a sum whose order depends on the batch, show") {
  const Problem problem(1328, 40, 41);
  // A step of zeros before the first input moves every boundary by 16 inputs.
  const auto moved = [&](const std::vector<unsigned>& rows) {
    Problem late = problem;
    const auto shift = [&](const Bfloat16s& matrix) {
      Bfloat16s result;
      for (std::size_t i = 0; i < matrix.size(); ++i) {
        if (i % problem.in == 0) result.insert(result.end(), 16, 0);
        result.push_back(matrix[i]);
      }
      return result;
    };
    late.in = problem.in + 16;
    late.weights = shift(problem.weights);
    late.inputs = shift(problem.inputs);
    late.fragments = packed_fragments(late.weights, late.out, late.in);
    simt::Stream stream;
    return stored(late, rows, plan_for(late, static_cast<unsigned>(rows.size()), 3), stream);
  };
  const auto rows = some_rows(9, 3);
  REQUIRE(different(moved(rows), problem.expected_of(rows)) > 0);
  // The defect in batches of more than eight alone: the same row differs between two batches.
  simt::Stream stream;
  const std::vector<unsigned> alone = {rows[0]};
  const auto single = stored(problem, alone, plan_for(problem, 1, 3), stream);
  const auto batched = moved(rows);
  REQUIRE(different(single, std::span(batched).first(problem.out)) > 0);
}
