// What the warps of the main kernels ask of memory, by what nvcc compiled, held against the plan of
// checks/device_accesses.txt.
#include "lab/ptx/accesses.hpp"

#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string_view>

#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/kernels/cuda/attention_launch.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_launch.hpp"
#include "gpu/llm/transformer/kernels/cuda/rows.cuh"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_plan.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"
#include "tests/simt/transformer/contract.hpp"

namespace tempera::lab::ptx {
namespace {

using tests::packed_fragments;
using tests::random_bfloat16s;
using tests::random_floats;

namespace simt = gpu::simt;

/// Memory is aligned as cudaMalloc aligns it at least.
struct alignas(256) Line {
  unsigned char bytes[256];
};
template <class T>
struct Aligned {
  std::vector<Line> lines;
  explicit Aligned(std::size_t size) : lines((size * sizeof(T) + 255) / 256) {}
  explicit Aligned(const std::vector<T>& values) : Aligned(values.size()) {
    std::memcpy(data(), values.data(), values.size() * sizeof(T));
  }
  T* data() { return reinterpret_cast<T*>(lines.data()); }
};

Accesses::Counts counted(const std::function<void(simt::Stream&)>& launch) {
  Accesses all;
  simt::Stream stream;
  accesses = &all;
  launch(stream);
  accesses = nullptr;
  return all.counts();
}

/// rows × 1024 inputs → 64 outputs. `adding` other than own_block: cut into its two segments.
Accesses::Counts of_product(unsigned rows, gpu::Adding adding) {
  constexpr unsigned in = 1024;
  constexpr unsigned out = 64;
  std::mt19937 random(rows);
  Aligned<std::uint32_t> weights(
      packed_fragments(random_bfloat16s(out * in, 0.3F, random), out, in));
  Aligned<std::uint16_t> inputs(random_bfloat16s(std::size_t{rows} * in, 1.0F, random));
  gpu::ProductPlan plan =
      gpu::plan_product(rows, in, out, out / 16, false, {2, std::size_t{227} * 1024});
  if (adding != gpu::Adding::own_block) {
    plan.part_segments = 1;
    plan.parts = plan.segments;
    plan.window = 1;
    plan.job_units = 1;
    plan.blocks = 2;
    plan.shared_bytes = std::size_t{227} * 1024;
  }
  plan.adding = adding;
  Aligned<float> scratch(plan.scratch_floats() + 1);
  Aligned<std::uint32_t> counters(std::vector<std::uint32_t>(plan.counters() + 1));
  Aligned<float> outputs(std::size_t{rows} * out);
  return counted([&](simt::Stream& stream) {
    gpu::launch_product(stream, plan,
                        {reinterpret_cast<const simt::Vector16*>(weights.data()),
                         {inputs.data()},
                         scratch.data(),
                         counters.data()},
                        gpu::StoreProduct{outputs.data(), nullptr});
  });
}

/// 1024 inputs, and two blocks of warpgroup_product, one after the other for the tokens.
gpu::ProductPlan plan_of_four_warps(const gpu::WarpgroupBlock& block = {8, 64}) {
  const auto plan =
      gpu::plan_for_blocks(block, 2, 2 * block.tokens, 1024, block.tiles * 16, block.tiles, false);
  REQUIRE(plan.blocks == 2);
  return plan;
}
Accesses::Counts of_plan(const gpu::ProductPlan& plan) {
  std::mt19937 random(5);
  Aligned<std::uint32_t> weights(packed_fragments(
      random_bfloat16s(std::size_t{plan.out} * plan.in, 0.3F, random), plan.out, plan.in));
  Aligned<std::uint16_t> inputs(random_bfloat16s(std::size_t{plan.rows} * plan.in, 1.0F, random));
  Aligned<float> outputs(std::size_t{plan.rows} * plan.out);
  return counted([&](simt::Stream& stream) {
    gpu::launch_product(stream, plan,
                        {reinterpret_cast<const simt::Vector16*>(weights.data()),
                         {inputs.data()},
                         nullptr,
                         nullptr},
                        gpu::StoreProduct{outputs.data(), nullptr});
  });
}

constexpr std::uint32_t attended_positions = 512;

/// The last rows of a text of 512 positions, 8 queries of 128 each that share 2 key heads;
/// together: in one block.
Accesses::Counts of_attention(std::uint32_t rows, bool together,
                              gpu::Arithmetic arithmetic = gpu::Arithmetic::tensor_core) {
  const gpu::PageShape pages{1, 2, 128, 8, arithmetic};
  std::mt19937 random(3);
  Aligned<std::uint16_t> memory(random_bfloat16s(
      attended_positions / 16 * pages.layout().bytes() / sizeof(std::uint16_t), 1.0F, random));
  const gpu::PageMemory view =
      gpu::pages_at(memory.data(), attended_positions / 16, pages.layout());
  std::vector<std::uint32_t> table_of(attended_positions / 16);
  for (std::uint32_t p = 0; p < table_of.size(); ++p) table_of[p] = p;
  Aligned<std::uint32_t> table(table_of);
  const unsigned splits = gpu::attention_splits(attended_positions);
  std::vector<std::uint32_t> positions_of(rows);
  std::vector<std::uint32_t> order_of(rows);
  std::vector<std::uint32_t> splits_of(rows);
  for (std::uint32_t row = 0; row < rows; ++row) {
    positions_of[row] = attended_positions - rows + row;
    order_of[row] = row;
    splits_of[row] = row == 0 ? 0 : splits;
  }
  Aligned<std::uint32_t> positions(positions_of);
  Aligned<std::uint32_t> order(order_of);
  Aligned<std::uint32_t> shared(splits_of);
  Aligned<std::uint32_t> first(std::vector<std::uint32_t>(rows, 0));
  const gpu::AttentionShape shape{8, 2, 128, 1024, 1280, 1536};
  Aligned<float> buffer(random_floats(std::size_t{rows} * 1536, 1.0F, random));
  gpu::TokenRows batch{rows,         attended_positions, nullptr, positions.data(),
                       first.data(), table.data()};
  if (together) batch.shared = {order.data(), shared.data()};
  const std::size_t partials = std::size_t{8} * splits * rows;
  Aligned<float> maxima(partials);
  Aligned<float> sums(partials);
  Aligned<float> outputs(partials * 128);
  Aligned<std::uint32_t> counters(std::vector<std::uint32_t>(gpu::attention_counters(shape, rows)));
  Aligned<std::uint16_t> attended(std::size_t{rows} * 1024);
  return counted([&](simt::Stream& stream) {
    gpu::launch_attention(stream, shape, {}, buffer.data(), batch, gpu::page_elements(arithmetic),
                          pages.keys(view, 0), pages.values(view, 0),
                          {maxima.data(), sums.data(), outputs.data(), counters.data(), splits},
                          attended.data());
  });
}

Accesses::Counts of_norm() {
  constexpr unsigned size = 1024;
  std::mt19937 random(4);
  Aligned<float> states(random_floats(2 * size, 1.0F, random));
  Aligned<float> weight(random_floats(size, 1.0F, random));
  Aligned<std::uint16_t> normed(2 * size);
  return counted([&](simt::Stream& stream) {
    simt::launch({.blocks = {2},
                  .threads = gpu::row_threads,
                  .shared_bytes = gpu::row_threads * sizeof(float)},
                 stream, gpu::normalize_rows, static_cast<const float*>(states.data()),
                 static_cast<const float*>(weight.data()), size, 1e-6F, normed.data());
  });
}

struct Planned {
  double turns;
  double sectors;
};
/// The plan that the lines that begin with 'launch' give.
std::map<std::string, Planned> plan() {
  std::ifstream file(TEMPERA_SOURCE_DIR "/checks/device_accesses.txt");
  std::map<std::string, Planned> planned;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    Planned row{};
    if (words >> kind >> name >> row.turns >> row.sectors && kind == "launch") planned[name] = row;
  }
  return planned;
}

}  // namespace

TEST_CASE("the turns and sectors of a warp are those of its lanes' addresses") {
  const auto counts_of = [](std::size_t stride, std::size_t bytes, Accesses::Space space) {
    Accesses all;
    alignas(256) static unsigned char memory[32 * 256];
    for (unsigned lane = 0; lane < 32; ++lane) {
      simt::coordinates = {lane, 32, {0, 0, 0}, {1, 1, 1}, nullptr};
      all.note(7, space, memory + lane * stride, bytes);
    }
    return all.counts();
  };
  CHECK(counts_of(4, 4, Accesses::Space::shared).turns == 1);
  CHECK(counts_of(0, 4, Accesses::Space::shared).turns == 1);  // one word for all
  CHECK(counts_of(8, 4, Accesses::Space::shared).turns == 2);
  CHECK(counts_of(128, 4, Accesses::Space::shared).turns == 32);
  CHECK(counts_of(132, 4, Accesses::Space::shared).turns == 1);
  CHECK(counts_of(16, 16, Accesses::Space::shared).turns == 4);
  CHECK(counts_of(16, 16, Accesses::Space::shared).fewest_turns == 4);
  CHECK(counts_of(128, 16, Accesses::Space::shared).turns == 32);
  CHECK(counts_of(144, 16, Accesses::Space::shared).turns == 4);
  CHECK(counts_of(4, 4, Accesses::Space::global).sectors == 4);
  CHECK(counts_of(4, 4, Accesses::Space::global).fewest_sectors == 4);
  CHECK(counts_of(64, 4, Accesses::Space::global).sectors == 32);
  CHECK(counts_of(64, 4, Accesses::Space::global).fewest_sectors == 4);
  CHECK(counts_of(0, 4, Accesses::Space::global).sectors == 1);
}

TEST_CASE("the main kernels take turns at banks and touch sectors as planned") {
  std::map<std::string, std::function<Accesses::Counts()>> launches{
      {"product_of_8_rows", [] { return of_product(8, gpu::Adding::own_block); }},
      {"product_of_64_rows", [] { return of_product(64, gpu::Adding::own_block); }},
      {"product_of_four_warps", [] { return of_plan(plan_of_four_warps()); }},
      {"cut_product_last_block", [] { return of_product(64, gpu::Adding::last_block); }},
      {"cut_product_next_kernel", [] { return of_product(64, gpu::Adding::next_kernel); }},
      {"attention", [] { return of_attention(1, false); }},
      {"attention_of_8_bits",
       [] { return of_attention(1, false, gpu::Arithmetic::tensor_core_8_bit_pages); }},
      {"attention_of_4_rows", [] { return of_attention(4, true); }},
      {"norm", of_norm}};
  auto planned = plan();
  REQUIRE(planned.size() == launches.size());
  for (const auto& [name, launch] : launches) {
    const Accesses::Counts found = launch();
    INFO(name << ": " << found.turns << " turns for " << found.fewest_turns << ", " << found.sectors
              << " sectors for " << found.fewest_sectors);
    REQUIRE(planned.count(name) == 1);
    REQUIRE(found.fewest_turns > 0);
    REQUIRE(found.fewest_sectors > 0);
    CHECK(static_cast<double>(found.turns) <=
          planned.at(name).turns * static_cast<double>(found.fewest_turns));
    CHECK(static_cast<double>(found.sectors) <=
          planned.at(name).sectors * static_cast<double>(found.fewest_sectors));
  }
}

TEST_CASE("pages of 8 bits are read by half of the sectors, and by those of their exponents") {
  // Both heads of 512 positions, keys and values, of 128 elements.
  constexpr std::uint64_t heads = std::uint64_t{attended_positions} * 2 * 2;
  const std::uint64_t of_bfloat16 = of_attention(1, false).sectors;
  const std::uint64_t of_8_bits =
      of_attention(1, false, gpu::Arithmetic::tensor_core_8_bit_pages).sectors;
  const std::uint64_t saved = heads * 128 / 32;
  CHECK(of_8_bits < of_bfloat16 - saved + heads / 8);
  CHECK(of_8_bits > heads * 128 / 32);
}

TEST_CASE("rows that share pages read their keys and values once") {
  // Both heads have keys and values of 128 elements, two bytes each.
  constexpr std::uint64_t pages = std::uint64_t{attended_positions} * 2 * 2 * 128 * 2 / 32;
  const std::uint64_t alone = of_attention(1, false).sectors;
  const std::uint64_t apart = of_attention(4, false).sectors;
  const std::uint64_t together = of_attention(4, true).sectors;
  INFO(alone << " sectors of one row, " << apart << " of four apart, " << together << " together");
  REQUIRE(alone > pages);
  CHECK(apart - alone > 3 * (pages - pages / 100));
  // A row also reads its queries, and writes what it keeps of each split.
  CHECK(together - alone < 3 * (alone - pages) + pages / 10);
}

TEST_CASE("a block of a product by four warps moves the bytes that its prediction counts") {
  for (const gpu::WarpgroupBlock& block : gpu::warpgroup_blocks) {
    INFO("tiles " << block.tiles << ", tokens " << block.tokens);
    const gpu::ProductPlan plan = plan_of_four_warps(block);
    const Accesses::Counts found = of_plan(plan);
    gpu::with_layout(block, [&]<class Layout>(Layout) {
      const std::uint64_t stages = plan.in / Layout::stage_inputs;
      constexpr std::uint64_t stage_bytes = std::uint64_t{Layout::stage_vectors} * 16;
      constexpr std::uint64_t weight_bytes = std::uint64_t{Layout::weight_vectors} * 16;
      CHECK(found.sectors == plan.blocks * (stages * stage_bytes + Layout::total_bytes) / 32);
      // Weights are read once, and after the last stage one that nobody uses; every segment's sums
      // go in and out. What copies write and steps read is not counted here.
      const std::uint64_t shared_bytes =
          (stages + 1) * weight_bytes + std::uint64_t{2} * plan.segments * Layout::total_bytes;
      CHECK(found.turns == plan.blocks * shared_bytes / 128);
    });
  }
}

}  // namespace tempera::lab::ptx
