// Products by steps that four warps take together, by every block that there is code for, against
// the contract.
#include "gpu/llm/transformer/kernels/cuda/warpgroup_product.cuh"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <planted/warpgroup_defects.hpp>

#include "base/error.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_check.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_plan.hpp"
#include "tests/simt/transformer/product_problem.hpp"

namespace tempera::warpgroup_product_test {

using namespace tempera;
using namespace tempera::tests;
namespace simt = tempera::gpu::simt;

namespace {

using Block = gpu::WarpgroupBlock;
constexpr Block eight_of_64{8, 64};

/// A plan for such blocks and so many segments a part.
gpu::ProductPlan plan_of(const Problem& problem, const Block& block, unsigned part_segments = 99,
                         unsigned gated_tiles = 0) {
  const bool gated = gated_tiles > 0;
  return gpu::plan_for_blocks(block, part_segments, problem.rows, problem.in, problem.out,
                              gated ? gated_tiles : (problem.out + 15) / 16, gated);
}

std::vector<unsigned> all_rows(const Problem& problem) {
  std::vector<unsigned> rows(problem.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

}  // namespace

TEST_CASE("a product by four warps together has the contract's bits for every batch and cut") {
  // Two stages; a segment and two stages; two segments and part of a third; blocks whose outputs
  // end within a tile, within a block and after one.
  const auto [in, out, rows] = GENERATE(table<unsigned, unsigned, unsigned>(
      {{64, 16, 33}, {576, 130, 64}, {1088, 40, 130}, {1088, 7, 65}, {512, 24, 129}}));
  const Problem problem(in, out, in + out, rows);
  std::uint64_t seed = 1;
  for (const auto& [block, part_segments] : {std::pair{Block{4, 64}, 99U},
                                             {Block{4, 64}, 2U},
                                             {Block{8, 64}, 99U},
                                             {Block{8, 64}, 2U},
                                             {Block{8, 64}, 1U},
                                             {Block{12, 64}, 99U},
                                             {Block{12, 64}, 1U},
                                             {Block{8, 128}, 99U},
                                             {Block{12, 128}, 99U},
                                             {Block{12, 128}, 2U},
                                             {Block{8, 256}, 2U},
                                             {Block{8, 256}, 99U}}) {
    if (part_segments != 99 && in <= 512) continue;
    if (part_segments == 2 && in <= 1024) continue;
    const auto plan = plan_of(problem, block, part_segments);
    simt::Stream stream{++seed};
    INFO("in " << in << ", out " << out << ", rows " << rows << ", tiles " << block.tiles
               << ", tokens " << block.tokens << ", segments of a part " << plan.part_segments);
    REQUIRE(different(stored(problem, all_rows(problem), plan, stream), problem.expected) == 0);
    REQUIRE(stream.launches == (plan.parts == 1 ? 1 : 2));
  }
}

TEST_CASE("512 rows have the same bits by four warps, in chunks of 32, and alone") {
  const Problem problem(1088, 24, 9, 512);
  const auto rows = all_rows(problem);
  simt::Stream stream{5};
  REQUIRE(different(stored(problem, rows, plan_of(problem, {8, 256}), stream), problem.expected) ==
          0);
  // What takes quantised weights, or inputs that fill no stage.
  const auto chunks = gpu::plan_product(512, problem.in, problem.out, 2, false,
                                        {3, hopper_shared_bytes}, gpu::WeightForm::quantised);
  REQUIRE(chunks.token_tiles == 4);
  REQUIRE(different(stored(problem, rows, chunks, stream), problem.expected) == 0);
  const std::vector<unsigned> alone = {300};
  const auto plan =
      gpu::plan_product(1, problem.in, problem.out, 2, false, {3, hopper_shared_bytes});
  REQUIRE(
      different(stored(problem, alone, plan, stream),
                std::span(problem.expected).subspan(std::size_t{300} * problem.out, problem.out)) ==
      0);
}

TEST_CASE("a product by four warps takes a bias, is added, gated, and leaves the largest of 16") {
  std::mt19937 random(5);
  // Gate and up of 88 units: two blocks, the second with two units of its four.
  const Problem gate(576, 88, 11, 140);
  const Problem up(576, 88, 12, 1);
  const auto inputs = gate.inputs_of(all_rows(gate));
  const Floats& products = gate.expected;
  const std::size_t tiles = 6;
  std::vector<std::uint32_t> both = gate.fragments;
  both.insert(both.end(), up.fragments.begin(), up.fragments.end());
  simt::Stream stream{3};
  for (const auto& [block, part_segments] : {std::pair{Block{4, 64}, 99U},
                                             {Block{8, 64}, 1U},
                                             {Block{12, 64}, 99U},
                                             {Block{8, 128}, 99U},
                                             {Block{12, 128}, 99U},
                                             {Block{8, 256}, 99U}}) {
    INFO("tiles " << block.tiles << ", tokens " << block.tokens << ", segments of a part "
                  << part_segments);
    const auto plan = plan_of(gate, block, part_segments);
    const Floats before = random_floats(products.size(), 1.0f, random);
    Floats states = before;
    run_product(stream, plan, gate.fragments, inputs, gpu::AddProduct{states.data()});
    Floats expected = before;
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += products[i];
    REQUIRE(different(states, expected) == 0);

    const Floats bias = random_floats(gate.out, 1.0f, random);
    run_product(stream, plan, gate.fragments, inputs,
                gpu::StoreProduct{states.data(), bias.data()});
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = products[i] + bias[i % gate.out];
    REQUIRE(different(states, expected) == 0);

    Bfloat16s gated(products.size(), 0x7FC0);
    run_product(stream, plan_of(gate, block, part_segments, 12), both, inputs,
                gpu::GateProduct{gated.data()});
    REQUIRE(different(gated, gated_results(gate, up, all_rows(gate))) == 0);

    Floats logits(products.size());
    Floats maxima(gate.rows * tiles);
    run_product(stream, plan, gate.fragments, inputs,
                gpu::StoreLogits{logits.data(), maxima.data()});
    REQUIRE(different(logits, products) == 0);
    for (std::size_t i = 0; i < maxima.size(); ++i) {
      const float* const first = &logits[i / tiles * gate.out + i % tiles * 16];
      REQUIRE(maxima[i] == *std::max_element(first, first + (i % tiles == 5 ? 8 : 16)));
    }
  }
}

TEST_CASE("steps of four warps are planned where they can be taken and have fewer bytes") {
  const gpu::ProductDevice hopper{132, hopper_shared_bytes, true};
  const auto form_for = [&](unsigned rows, unsigned in, const gpu::ProductDevice& on,
                            gpu::WeightForm weights = gpu::WeightForm::fragments) {
    return gpu::plan_product(rows, in, 12288, 1536, true, on, weights).form;
  };
  using Form = gpu::ProductForm;
  for (const unsigned rows : {33U, 64U, 128U, 256U, 512U}) {
    const auto plan = gpu::plan_product(rows, 4096, 12288, 1536, true, hopper);
    CHECK(plan.form == Form::warpgroups);
    CHECK(plan.shared_bytes <= hopper_shared_bytes);
    CHECK(8 * plan.token_tiles >= std::min(rows, 64U));
    const gpu::ProductDevice without{132, hopper_shared_bytes};
    CHECK(gpu::busiest_bytes(plan, true, 132) <
          gpu::busiest_bytes(gpu::plan_product(rows, 4096, 12288, 1536, true, without), true, 132));
  }
  CHECK(form_for(512, 4096, {132, hopper_shared_bytes}) == Form::chunks);
  CHECK(form_for(32, 4096, hopper) == Form::chunks);
  CHECK(form_for(512, 4096 + 32, hopper) == Form::chunks);
  CHECK(form_for(512, 4096 + 16, hopper) == Form::chunks);
  CHECK(form_for(512, 4096, hopper, gpu::WeightForm::quantised) == Form::chunks);
  CHECK(form_for(512, 4096, {132, 99 * 1024, true}) == Form::chunks);
  // What fits no such kernel is refused, not computed.
  const auto plan = gpu::plan_product(512, 4096, 12288, 1536, true, hopper);
  simt::Stream stream;
  gpu::ProductOperands operands{};
  const std::byte quantised{};
  operands.quantised = &quantised;
  CHECK_THROWS_AS(gpu::launch_product(stream, plan, operands, gpu::GateProduct{nullptr}),
                  tempera::Bug);
}

TEMPLATE_TEST_CASE("sums and inputs of a block of four warps have places of their own", "",
                   (gpu::WarpgroupLayout<4, 64>), (gpu::WarpgroupLayout<8, 64>),
                   (gpu::WarpgroupLayout<12, 64>), (gpu::WarpgroupLayout<8, 128>),
                   (gpu::WarpgroupLayout<12, 128>), (gpu::WarpgroupLayout<8, 256>)) {
  using Layout = TestType;
  CHECK(Layout::blocks_together * (Layout::shared_bytes + 1024) <= 228 * 1024);
  CHECK(Layout::stages >= 3);
  // The block is one that there is code for, and its layout is this.
  constexpr Block block{Layout::tiles, Layout::tokens};
  CHECK(std::ranges::find(gpu::warpgroup_blocks, block) != std::end(gpu::warpgroup_blocks));
  CHECK(gpu::with_layout(block, [](auto layout) { return decltype(layout)::shared_bytes; }) ==
        Layout::shared_bytes);
  std::vector<bool> taken(Layout::total_bytes / sizeof(float));
  std::vector<bool> pieces(Layout::tokens * Layout::row_vectors);
  for (unsigned token = 0; token < Layout::tokens; ++token) {
    for (unsigned tile = 0; tile < Layout::tiles; ++tile) {
      for (unsigned output = 0; output < 16; ++output) {
        const unsigned place = Layout::result_place(tile, output, token);
        REQUIRE_FALSE(taken.at(place));
        taken[place] = true;
      }
    }
    for (unsigned piece = 0; piece < Layout::row_vectors; ++piece) {
      const unsigned place = Layout::input_place(token, piece);
      REQUIRE_FALSE(pieces.at(place));
      pieces[place] = true;
    }
  }
  // The sixteen outputs of a token, and those of its neighbour in the block, in different banks.
  for (unsigned tile = 0; tile < Layout::tiles; tile += 2) {
    std::vector<bool> banks(32);
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned bank = Layout::result_place(tile + i / 16, i % 16, 5) % 32;
      REQUIRE_FALSE(banks[bank]);
      banks[bank] = true;
    }
  }
  // All threads together copy every piece once.
  std::vector<unsigned> copied(pieces.size());
  for (unsigned thread = 0; thread < Layout::threads; ++thread)
    for (unsigned token = Layout::token_of(thread); token < Layout::tokens;
         token += Layout::rows_at_once)
      ++copied[Layout::input_place(token, Layout::piece_of(thread))];
  CHECK(std::all_of(copied.begin(), copied.end(), [](unsigned count) { return count == 1; }));
}

TEST_CASE(
    "a device shows that its steps of four warps have the bits of mma.sync before they are "
    "used") {
  simt::Stream stream{4};
  CHECK(gpu::warpgroups_have_equal_bits(stream));
  // One bit of one number of one form, each in turn.
  static thread_local unsigned wrong = 0;
  static thread_local unsigned launch = 0;
  const auto with_a_wrong_bit = [](simt::Stream& on, const gpu::ProductPlan& plan,
                                   const gpu::ProductOperands& operands,
                                   const gpu::StoreProduct& epilogue) {
    gpu::launch_product(on, plan, operands, epilogue);
    if (launch++ != wrong) return;
    float& last = epilogue.outputs[std::size_t{plan.rows} * plan.out - 1];
    last = std::nextafter(last, 1e9f);
  };
  for (wrong = 0; wrong < 7; ++wrong) {
    launch = 0;
    CHECK_FALSE(gpu::warpgroups_have_equal_bits(stream, with_a_wrong_bit));
    CHECK(launch == wrong + 1);
  }
  launch = 1;
  wrong = 0;
  CHECK(gpu::warpgroups_have_equal_bits(stream, with_a_wrong_bit));
}

TEST_CASE("fibers refuse steps of four warps that Ampere would have to take") {
  const Problem problem(64, 16, 3, 40);
  simt::Stream stream{2};
  stream.takes_ampere_steps = true;
  CHECK_THROWS_AS(stored(problem, all_rows(problem), plan_of(problem, eight_of_64), stream),
                  simt::LaunchFailure);
}

TEST_CASE("planted: each defect in a product by four warps shows") {
  // A segment and two stages of the next; a block whose outputs end before its last tile does, and
  // two of tokens.
  const Problem problem(576, 104, 31, 67);
  const Problem up(576, 104, 32, 1);
  const auto inputs = problem.inputs_of(all_rows(problem));
  std::mt19937 random(33);
  const Floats before = random_floats(problem.expected.size(), 1.0f, random);
  Floats expected = before;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += problem.expected[i];
  const auto shows_in_sums = [&](const gpu::PlantedWarpgroups& planted, unsigned part_segments,
                                 simt::Stream stream) {
    Floats outputs = before;
    try {
      run_product(stream, plan_of(problem, eight_of_64, part_segments), problem.fragments, inputs,
                  gpu::AddProduct{outputs.data()}, planted.add);
    } catch (const simt::LaunchFailure&) {
      return true;
    }
    return different(outputs, expected) != 0;
  };
  const auto& sound = gpu::planted_warpgroups[0];
  REQUIRE(sound.defect == std::string("nothing"));
  for (const unsigned part_segments : {99U, 1U}) {
    simt::Stream lines{1};
    Floats outputs = before;
    run_product(lines, plan_of(problem, eight_of_64, part_segments), problem.fragments, inputs,
                gpu::AddProduct{outputs.data()}, sound.add);
    REQUIRE(different(outputs, expected) == 0);
    REQUIRE(lines.barrier_lines.size() == (part_segments == 1 ? 2 : 3));
    for (const unsigned line : lines.barrier_lines) {
      bool shows = false;
      for (std::uint64_t seed = 1; seed <= 3 && !shows; ++seed)
        shows =
            shows_in_sums(sound, part_segments, simt::Stream{seed, 0, {.barrier_line = line}, {}});
      INFO("the barrier on line " << line << " of warpgroup_product.cuh");
      CHECK(shows);
    }
  }
  CHECK(shows_in_sums(sound, 99, simt::Stream{1, 0, {.wait_one_short = true}, {}}));
  for (const auto& planted : gpu::planted_warpgroups) {
    INFO(planted.defect);
    if (planted.defect == std::string("nothing")) continue;
    using Where = gpu::PlantedWarpgroups::Where;
    const bool cut = planted.where == Where::cut || planted.where == Where::cut_gates;
    const unsigned part_segments = cut ? 1 : 99;
    if (planted.where == Where::whole || planted.where == Where::cut) {
      CHECK(shows_in_sums(planted, part_segments, simt::Stream{1}));
      continue;
    }
    std::vector<std::uint32_t> both = problem.fragments;
    both.insert(both.end(), up.fragments.begin(), up.fragments.end());
    Bfloat16s gated(problem.expected.size());
    simt::Stream stream{1};
    run_product(stream, plan_of(problem, eight_of_64, part_segments, 14), both, inputs,
                gpu::GateProduct{gated.data()}, planted.gate);
    CHECK(different(gated, gated_results(problem, up, all_rows(problem))) != 0);
  }
}

}  // namespace tempera::warpgroup_product_test
