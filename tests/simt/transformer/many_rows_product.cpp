// Products of more than 64 rows, a block for 128 outputs of 128 tokens, against the contract and
// against the product in chunks of 64.
#include "gpu/transformer/kernels/cuda/many_rows_product.cuh"

#include <algorithm>
#include <numeric>
#include <planted/many_rows_defects.hpp>

#include "base/error.hpp"
#include "gpu/device/tensor_core.hpp"
#include "tests/simt/transformer/product_problem.hpp"

namespace tempera::many_rows_product_test {

using namespace tempera;
using namespace tempera::tests;
namespace simt = tempera::gpu::simt;

namespace {

/// Rows of a problem in a random order.
std::vector<unsigned> rows_in_any_order(const Problem& problem, unsigned count) {
  std::vector<unsigned> rows(problem.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  std::mt19937 random(count);
  std::shuffle(rows.begin(), rows.end(), random);
  rows.resize(count);
  return rows;
}

gpu::ProductPlan plan_of(const Problem& problem, std::size_t rows, unsigned gated_tiles = 0) {
  const bool gated = gated_tiles > 0;
  const auto plan = gpu::plan_many_rows(static_cast<unsigned>(rows), problem.in, problem.out,
                                        gated ? gated_tiles : (problem.out + 15) / 16, gated,
                                        {3, hopper_shared_bytes});
  REQUIRE(plan.has_value());
  return *plan;
}

}  // namespace

TEST_CASE("a product of many rows has the contract's bits for every batch, slot and thread order") {
  // One stage; part of a segment; two segments and part of one; blocks whose outputs end within a
  // tile, within a block and after one.
  const auto [in, out, counts] =
      GENERATE(table<unsigned, unsigned, std::vector<unsigned>>({{32, 16, {65, 128, 129, 200, 512}},
                                                                 {64, 130, {129, 512}},
                                                                 {1120, 40, {200}},
                                                                 {544, 7, {65, 256}}}));
  const Problem problem(in, out, in + out, 512);
  std::uint64_t seed = 1;
  for (const unsigned count : counts) {
    const auto rows = rows_in_any_order(problem, count);
    simt::Stream stream{++seed};
    const auto plan = plan_of(problem, count);
    INFO("in " << in << ", out " << out << ", rows " << count);
    REQUIRE(different(stored(problem, rows, plan, stream), problem.expected_of(rows)) == 0);
    REQUIRE(stream.launches == 1);
  }
}

TEST_CASE("512 rows have the same bits in tiles of 128 tokens, in chunks of 32, and by contract") {
  const Problem problem(1120, 24, 9, 512);
  const auto rows = rows_in_any_order(problem, 512);
  const auto expected = problem.expected_of(rows);
  simt::Stream stream{5};
  REQUIRE(different(stored(problem, rows, plan_of(problem, 512), stream), expected) == 0);
  // What takes quantised weights, or inputs that fill no stage.
  const auto chunks = gpu::plan_product(512, problem.in, problem.out, 2, false,
                                        {3, hopper_shared_bytes}, gpu::WeightForm::quantised);
  REQUIRE(chunks.token_tiles == 4);
  REQUIRE(different(stored(problem, rows, chunks, stream), expected) == 0);
  // The same record alone.
  const std::vector<unsigned> alone = {rows[300]};
  const auto plan =
      gpu::plan_product(1, problem.in, problem.out, 2, false, {3, hopper_shared_bytes});
  REQUIRE(different(stored(problem, alone, plan, stream),
                    std::span(expected).subspan(std::size_t{300} * problem.out, problem.out)) == 0);
}

TEST_CASE("a product of many rows by Ampere's tensor cores has the contract's bits") {
  const Problem problem(608, 24, 3, 130);
  const auto rows = rows_in_any_order(problem, 130);
  simt::Stream stream{2};
  stream.takes_ampere_steps = true;
  Floats expected;
  for (const unsigned row : rows)
    for (unsigned o = 0; o < problem.out; ++o)
      expected.push_back(contract_product(
          {&problem.weights[std::size_t{o} * problem.in], problem.in},
          {&problem.inputs[std::size_t{row} * problem.in], problem.in}, 512, gpu::ampere_step));
  const auto found = stored(problem, rows, plan_of(problem, 130), stream);
  REQUIRE(different(found, expected) == 0);
  REQUIRE(different(found, problem.expected_of(rows)) > 0);
}

TEST_CASE("a product of many rows takes a bias, is added, gated, and leaves the largest of 16") {
  std::mt19937 random(5);
  // Gate and up of 88 units: two blocks, the second with two units of its four.
  const Problem gate(544, 88, 11, 140);
  const Problem up(544, 88, 12, 1);
  const auto rows = rows_in_any_order(gate, 140);
  const auto products = gate.expected_of(rows);
  simt::Stream stream{3};
  const auto plan = plan_of(gate, rows.size());

  const Floats before = random_floats(products.size(), 1.0f, random);
  Floats states = before;
  run_product(stream, plan, gate.fragments, gate.inputs_of(rows), gpu::AddProduct{states.data()});
  Floats expected = before;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += products[i];
  REQUIRE(different(states, expected) == 0);

  const Floats bias = random_floats(gate.out, 1.0f, random);
  run_product(stream, plan, gate.fragments, gate.inputs_of(rows),
              gpu::StoreProduct{states.data(), bias.data()});
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = products[i] + bias[i % gate.out];
  REQUIRE(different(states, expected) == 0);

  std::vector<std::uint32_t> both = gate.fragments;
  both.insert(both.end(), up.fragments.begin(), up.fragments.end());
  Bfloat16s gated(rows.size() * gate.out, 0x7FC0);
  run_product(stream, plan_of(gate, rows.size(), 12), both, gate.inputs_of(rows),
              gpu::GateProduct{gated.data()});
  REQUIRE(different(gated, gated_results(gate, up, rows)) == 0);

  const std::size_t tiles = 6;
  Floats logits(products.size());
  Floats maxima(rows.size() * tiles);
  run_product(stream, plan, gate.fragments, gate.inputs_of(rows),
              gpu::StoreLogits{logits.data(), maxima.data()});
  REQUIRE(different(logits, products) == 0);
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    const float* const first = &logits[i / tiles * gate.out + i % tiles * 16];
    REQUIRE(maxima[i] == *std::max_element(first, first + (i % tiles == 5 ? 8 : 16)));
  }
}

TEST_CASE("tiles of 128 tokens are planned if they are predicted to take less, and can be taken") {
  const gpu::ProductDevice device{132, hopper_shared_bytes};
  const auto plan_for = [&](unsigned rows, unsigned in, const gpu::ProductDevice& on,
                            gpu::WeightForm form = gpu::WeightForm::fragments) {
    return gpu::plan_product(rows, in, 12288, 1536, true, on, form);
  };
  const auto plan = plan_for(512, 4096, device);
  CHECK(plan.form == gpu::ProductForm::tiles);
  CHECK(plan.blocks == 768);
  CHECK(2 * (plan.shared_bytes + 1024) <= 228 * 1024);
  const auto chunks = plan_for(512, 4096, device, gpu::WeightForm::quantised);
  CHECK(chunks.token_tiles == 4);
  CHECK(gpu::predicted_nanoseconds(plan, true, 132) <
        gpu::predicted_nanoseconds(chunks, true, 132));
  CHECK(plan_for(64, 4096, device).token_tiles == 4);
  CHECK(plan_for(512, 4096 + 16, device).token_tiles == 4);
  CHECK(plan_for(512, 4096, {132, 99 * 1024}).token_tiles == 4);
  CHECK_FALSE(gpu::plan_many_rows(512, 48, 16, 1, false, device));
  // What fits no kernel of tiles is refused, not computed.
  simt::Stream stream;
  gpu::ProductOperands operands{};
  const std::byte quantised{};
  operands.quantised = &quantised;
  CHECK_THROWS_AS(gpu::launch_product(stream, plan, operands, gpu::GateProduct{nullptr}),
                  tempera::Bug);
}

TEST_CASE("sums and inputs of a block have places of their own, in different banks") {
  using Layout = gpu::ManyRowsLayout;
  std::vector<bool> taken(Layout::total_bytes / sizeof(float));
  for (unsigned token = 0; token < Layout::tokens; ++token) {
    for (unsigned tile = 0; tile < Layout::tiles; ++tile) {
      for (unsigned output = 0; output < 16; ++output) {
        const unsigned place = Layout::result_place(tile, output, token);
        REQUIRE_FALSE(taken.at(place));
        taken[place] = true;
      }
    }
  }
  std::vector<bool> pieces(Layout::tokens * Layout::row_vectors);
  for (unsigned token = 0; token < Layout::tokens; ++token) {
    for (unsigned piece = 0; piece < Layout::row_vectors; ++piece) {
      const unsigned place = Layout::input_place(token, piece);
      REQUIRE_FALSE(pieces.at(place));
      pieces[place] = true;
    }
  }
}

TEST_CASE("planted: each defect in a product of many rows shows") {
  // A segment and a stage of the next; a block whose outputs end before its last tile does, and two
  // of tokens.
  const Problem problem(544, 104, 31, 131);
  const Problem up(544, 104, 32, 1);
  std::vector<unsigned> rows(problem.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  const auto inputs = problem.inputs_of(rows);
  const auto plan = plan_of(problem, rows.size());
  std::mt19937 random(33);
  const Floats before = random_floats(problem.expected.size(), 1.0f, random);
  Floats expected = before;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += problem.expected[i];
  const auto shows_in_sums = [&](const gpu::PlantedManyRows& planted, simt::Stream stream) {
    Floats outputs = before;
    try {
      run_product(stream, plan, problem.fragments, inputs, gpu::AddProduct{outputs.data()},
                  planted.add);
    } catch (const simt::LaunchFailure&) {
      return true;
    }
    return different(outputs, expected) != 0;
  };
  const auto& sound = gpu::planted_many_rows[0];
  REQUIRE(sound.defect == std::string("none"));
  simt::Stream lines{1};
  Floats outputs = before;
  run_product(lines, plan, problem.fragments, inputs, gpu::AddProduct{outputs.data()}, sound.add);
  REQUIRE(different(outputs, expected) == 0);
  REQUIRE(lines.barrier_lines.size() == 2);
  for (const unsigned line : lines.barrier_lines) {
    bool shows = false;
    for (std::uint64_t seed = 1; seed <= 3 && !shows; ++seed)
      shows = shows_in_sums(sound, simt::Stream{seed, 0, {.barrier_line = line}, {}});
    INFO("the barrier on line " << line << " of many_rows_product.cuh");
    CHECK(shows);
  }
  CHECK(shows_in_sums(sound, simt::Stream{1, 0, {.wait_one_short = true}, {}}));
  for (const auto& planted : gpu::planted_many_rows) {
    INFO(planted.defect);
    if (planted.defect == std::string("none")) continue;
    if (!planted.is_gated) {
      CHECK(shows_in_sums(planted, simt::Stream{1}));
      continue;
    }
    std::vector<std::uint32_t> both = problem.fragments;
    both.insert(both.end(), up.fragments.begin(), up.fragments.end());
    Bfloat16s gated(problem.expected.size());
    simt::Stream stream{1};
    run_product(stream, plan_of(problem, rows.size(), 14), both, inputs,
                gpu::GateProduct{gated.data()}, planted.gate);
    CHECK(different(gated, gated_results(problem, up, rows)) != 0);
  }
}

}  // namespace tempera::many_rows_product_test
