// What CudaKernels does in one kernel, against the same by a kernel for each part.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/kernels/cuda/attention_launch.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"
#include "tests/simt/transformer/placed_records.hpp"
#include "tests/simt/transformer/quantised_matrix.hpp"

namespace tempera::joined_kernels_test {

using namespace tempera;
using namespace tempera::tests;
using gpu::Kernels;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("a product that normalises its rows has the bits of a norm and a product") {
  // Sizes that fill no segment, one whose tail is short, several windows; every kind of weights.
  const auto [in, dtype] = GENERATE(table<std::size_t, std::string>(
      {{24, "BF16"}, {512, "BF16"}, {1032, "BF16"}, {2560, "BF16"}, {288, "Q8_0"}, {512, "Q4_K"}}));
  const QuantisedMatrix matrix(in, {{dtype, 48}}, static_cast<std::uint32_t>(in));
  const gpu::MatrixView view = matrix.packed.view();
  const std::size_t out = matrix.out;
  std::mt19937 random(7);
  const auto weight = random_floats(in, 1.0F, random);
  const auto bias = random_floats(out, 1.0F, random);
  for (const std::size_t rows : {1U, 2U, 7U, 8U, 9U}) {
    INFO(dtype << ", " << in << " inputs, " << rows << " rows");
    const auto states = random_floats(rows * in, 2.0F, random);
    const gpu::CudaKernels kernels(rows);
    std::vector<gpu::simt::Vector16> room(rows * in / 8 + 1);
    const gpu::RowNorm norm{states.data(),
                            weight.data(),
                            1e-6F,
                            {nullptr, reinterpret_cast<std::uint16_t*>(room.data())}};
    const bool joined = rows <= 8;
    for (const float* add : {static_cast<const float*>(nullptr), bias.data()}) {
      Floats apart(rows * out, nan);
      Floats together(rows * out, nan);
      kernels.Kernels::normalize_and_multiply(norm, view, add, rows, out, apart.data());
      const std::uint64_t before = kernels.launches();
      kernels.normalize_and_multiply(norm, view, add, rows, out, together.data());
      REQUIRE(different(together, apart) == 0);
      REQUIRE((kernels.launches() == before + 1) == joined);
    }
    Bfloat16s apart(rows * out / 2);
    Bfloat16s together(rows * out / 2);
    // Gate and up stacked, tile by tile.
    kernels.Kernels::normalize_and_multiply_gated(norm, view, rows, out / 2 / 16 * 16,
                                                  {nullptr, apart.data()});
    kernels.normalize_and_multiply_gated(norm, view, rows, out / 2 / 16 * 16,
                                         {nullptr, together.data()});
    REQUIRE(different(together, apart) == 0);
  }
}

namespace {

/// Pages with random keys and values of records of their own, and what their rows project.
struct Rows {
  gpu::PageShape pages;
  std::vector<gpu::simt::Vector16> memory;
  std::vector<std::uint32_t> positions;
  std::vector<std::uint32_t> first_page;
  std::vector<std::uint32_t> table;
  // What rows share, if attention is to be told; splits is empty if it is not.
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> splits;
  gpu::AttentionShape shape;
  Floats projected;
  Floats cosines, sines, query_norm, key_norm;

  Rows(const gpu::AttentionShape& heads, const std::vector<std::uint32_t>& lengths,
       std::mt19937 random, gpu::Arithmetic arithmetic = gpu::Arithmetic::tensor_core)
      : pages{1, heads.key_value_heads, heads.head_dim, 8, arithmetic}, shape(heads) {
    place_records(lengths, positions, first_page, table);
    const std::uint32_t longest = *std::max_element(lengths.begin(), lengths.end());
    const auto elements = random_bfloat16s(table.size() * pages.layout().bytes() / 2, 1.0F, random);
    memory.resize(elements.size() / 8);
    std::memcpy(memory.data(), elements.data(), elements.size() * 2);
    if (gpu::page_elements(arithmetic) == gpu::PageElements::eight_bits) set_exponents();
    projected = random_floats(lengths.size() * shape.row_floats, 1.0F, random);
    const std::size_t half = (shape.rotary_dim == 0 ? shape.head_dim : shape.rotary_dim) / 2;
    cosines = random_floats(longest * half, 1.0F, random);
    sines = random_floats(longest * half, 1.0F, random);
    query_norm = random_floats(shape.head_dim, 1.0F, random);
    key_norm = random_floats(shape.head_dim, 1.0F, random);
  }

  /// Every element is one of 8 bits, if its exponent is no random byte.
  void set_exponents() {
    const gpu::PageMemory view = gpu::pages_at(memory.data(), table.size(), pages.layout());
    const std::size_t of_head = 16 * (shape.head_dim + 1);
    for (const gpu::PagePart& part : {pages.keys(view, 0), pages.values(view, 0)}) {
      for (std::size_t page = 0; page < table.size(); ++page) {
        for (std::size_t head = 0; head < shape.key_value_heads; ++head) {
          auto* const exponents =
              gpu::part_of_page<unsigned char>(part, page) + (head + 1) * of_head - 16;
          for (std::size_t slot = 0; slot < 16; ++slot)
            exponents[slot] = static_cast<unsigned char>(118 + (page + 3 * head + slot) % 5);
        }
      }
    }
  }

  /// Makes the rows after position 255 forks of the first of them, and says so.
  void share_first_split() {
    order.resize(positions.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_partition(order.begin(), order.end(),
                          [&](std::uint32_t row) { return positions[row] > 255; });
    splits.assign(order.size(), 0);
    for (std::size_t i = 1; i < order.size() && positions[order[i]] > 255; ++i) {
      splits[i] = 1;
      std::copy_n(&table[first_page[order[0]]], 16, &table[first_page[order[i]]]);
    }
  }

  /// What is attended; the pages are those that it leaves.
  Bfloat16s attend(const gpu::CudaKernels& kernels, bool norms, bool joined) {
    const std::size_t context = *std::max_element(positions.begin(), positions.end()) + 1;
    gpu::TokenRows batch{positions.size(), context,           nullptr,
                         positions.data(), first_page.data(), table.data()};
    batch.own_records = joined;
    if (joined && !splits.empty()) batch.shared = {order.data(), splits.data()};
    const gpu::PageMemory view = gpu::pages_at(memory.data(), table.size(), pages.layout());
    Floats buffer = projected;
    Bfloat16s attended(positions.size() * shape.heads * shape.head_dim, 0x7FC0);
    kernels.rotate_and_attend(shape, norms ? query_norm.data() : nullptr,
                              norms ? key_norm.data() : nullptr, 1e-6F,
                              {cosines.data(), sines.data()}, batch, pages.keys(view, 0),
                              pages.values(view, 0), buffer.data(), {nullptr, attended.data()});
    return attended;
  }
};

}  // namespace

TEST_CASE(
    "attention that rotates its own heads has the bits, and leaves the pages, of two kernels") {
  struct Heads {
    std::size_t heads, key_heads, size, rotary;
  };
  const auto [heads, key_heads, size, rotary] =
      GENERATE(Heads{4, 2, 64, 0}, Heads{8, 1, 32, 0}, Heads{9, 1, 16, 8}, Heads{5, 5, 20, 0},
               Heads{2, 1, 6, 4}, Heads{8, 2, 128, 64}, Heads{2, 1, 256, 0});
  const std::size_t query = heads * size;
  const std::size_t key_value = key_heads * size;
  const bool gates = size == 64;
  gpu::AttentionShape shape{heads,
                            key_heads,
                            size,
                            query,
                            query + key_value,
                            query + 2 * key_value + (gates ? query : 3),
                            rotary,
                            gates ? query + 2 * key_value : 0};
  // Alone in a page, at its end, at its beginning, at both sides of a split's end; three forks.
  const std::vector<std::uint32_t> lengths = {1, 16, 17, 255, 256, 257, 40, 513, 300};
  const auto arithmetic =
      GENERATE(gpu::Arithmetic::tensor_core, gpu::Arithmetic::tensor_core_8_bit_pages);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    for (const bool norms : {true, false}) {
      INFO(heads << " heads, " << key_heads << " of keys, size " << size << ", norms " << norms);
      Rows apart(shape, lengths, std::mt19937(static_cast<std::uint32_t>(seed)), arithmetic);
      if (seed > 1) apart.share_first_split();
      Rows together = apart;
      const gpu::CudaKernels kernels(seed, std::nullopt, gpu::StepForm::graph, arithmetic);
      const Bfloat16s expected = apart.attend(kernels, norms, false);
      const std::uint64_t before = kernels.launches();
      REQUIRE(before == 2);
      REQUIRE(different(together.attend(kernels, norms, true), expected) == 0);
      REQUIRE(kernels.launches() == before + 1);
      REQUIRE(std::memcmp(together.memory.data(), apart.memory.data(),
                          apart.memory.size() * sizeof apart.memory[0]) == 0);
    }
  }
}

TEST_CASE("where a block has no room for several rows, each goes alone, whatever they share") {
  const gpu::AttentionShape shape{4, 2, 64, 256, 384, 515};
  Rows rows(shape, {300, 280}, std::mt19937(5));
  constexpr auto elements = gpu::PageElements::bfloat16;
  const std::size_t together =
      gpu::attention_shared_bytes(shape, elements, gpu::attention_rows(shape, elements));
  REQUIRE(together > gpu::attention_shared_bytes(shape, elements, 1));
  const Bfloat16s expected = rows.attend(gpu::CudaKernels(1), true, true);
  // What is said to be shared is not, which shows if rows go together.
  rows.order = {0, 1};
  rows.splits = {0, 1};
  REQUIRE(different(rows.attend(gpu::CudaKernels(1, together), true, true), expected) > 0);
  REQUIRE(different(rows.attend(gpu::CudaKernels(1, together - 1), true, true), expected) == 0);
}

}  // namespace tempera::joined_kernels_test
