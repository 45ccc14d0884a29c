#include <algorithm>
#include <cstring>
#include <limits>

#include "gpu/device/tensor_core.hpp"
#include "gpu/transformer/cache/page_shape.hpp"
#include "gpu/transformer/kernels/cuda/attention_launch.hpp"
#include "tests/catch.hpp"
#include "tests/simt/transformer/contract.hpp"

using namespace tempera;
using namespace tempera::tests;
namespace simt = tempera::gpu::simt;

namespace {

struct HeadShape {
  unsigned heads;
  unsigned key_value_heads;
  unsigned head_dim;
};

/// Records whose first pages are shared, as after a fork, in pages that are in any order; what no
/// record holds is NaN.
struct Pages {
  gpu::PageShape shape;
  std::vector<gpu::simt::Vector16> memory;
  std::vector<std::uint32_t> table;
  std::vector<std::uint32_t> first_page;  // of every record
  std::vector<std::uint32_t> lengths;

  Pages(const HeadShape& heads, const std::vector<std::uint32_t>& record_lengths,
        std::uint32_t shared_pages, std::mt19937& random)
      : shape{1, heads.key_value_heads, heads.head_dim, 8, gpu::Arithmetic::tensor_core},
        lengths(record_lengths) {
    std::uint32_t count = shared_pages;
    for (const auto length : lengths) count += (length + 15) / 16;
    std::vector<std::uint32_t> free(count);
    for (std::uint32_t p = 0; p < count; ++p) free[p] = p;
    std::shuffle(free.begin(), free.end(), random);
    memory.resize(count * shape.bytes() / 16);
    std::memset(memory.data(), 0xFF, memory.size() * 16);
    const std::vector<std::uint32_t> shared(free.end() - shared_pages, free.end());
    free.resize(count - shared_pages);
    for (const auto length : lengths) {
      first_page.push_back(static_cast<std::uint32_t>(table.size()));
      for (std::uint32_t page = 0; page < (length + 15) / 16; ++page) {
        if (page < shared_pages && page * 16 + 16 <= length) {
          table.push_back(shared[page]);
        } else {
          table.push_back(free.back());
          free.pop_back();
        }
      }
    }
    for (std::size_t record = 0; record < lengths.size(); ++record) {
      for (std::uint32_t position = 0; position < lengths[record]; ++position) {
        for (std::uint32_t head = 0; head < heads.key_value_heads; ++head) {
          for (const bool key : {true, false}) {
            const auto vector = random_bfloat16s(heads.head_dim, 1.0f, random);
            std::copy(vector.begin(), vector.end(), element(record, position, head, key));
          }
        }
      }
    }
  }

  gpu::PageMemory view() { return {reinterpret_cast<std::byte*>(memory.data()), shape.bytes()}; }
  std::uint16_t* element(std::size_t record, std::uint32_t position, std::uint32_t head, bool key) {
    const auto part = key ? shape.keys(view(), 0) : shape.values(view(), 0);
    const std::uint32_t page = table[first_page[record] + position / 16];
    return gpu::part_of_page<std::uint16_t>(part, page) +
           (std::size_t{head} * 16 + position % 16) * shape.head_dim;
  }
};

/// Rows at the ends of records, or before them, and their attention by the contract.
struct AttentionProblem {
  HeadShape heads;
  Pages pages;
  gpu::AttentionShape shape;
  std::vector<std::uint32_t> records;    // of each row
  std::vector<std::uint32_t> positions;  // of each row
  Floats buffer;                         // [rows, row_floats]

  AttentionProblem(const HeadShape& head_shape, const std::vector<std::uint32_t>& lengths,
                   std::uint32_t shared_pages, unsigned seed)
      : AttentionProblem(head_shape, lengths, shared_pages, std::mt19937(seed)) {}
  AttentionProblem(const HeadShape& head_shape, const std::vector<std::uint32_t>& lengths,
                   std::uint32_t shared_pages, std::mt19937 random)
      : heads(head_shape), pages(head_shape, lengths, shared_pages, random) {
    const std::size_t query = std::size_t{heads.heads} * heads.head_dim;
    const std::size_t key_value = std::size_t{heads.key_value_heads} * heads.head_dim;
    shape = {heads.heads, heads.key_value_heads, heads.head_dim,
             query,       query + key_value,     query + 2 * key_value + 3};
    for (std::uint32_t record = 0; record < lengths.size(); ++record) {
      records.push_back(record);
      positions.push_back(lengths[record] - 1);
    }
    buffer = random_floats(lengths.size() * shape.row_floats, 1.0f, random);
  }

  Bfloat16s by_contract() {
    Bfloat16s result;
    for (std::size_t row = 0; row < records.size(); ++row) {
      for (std::uint32_t head = 0; head < heads.heads; ++head) {
        std::vector<const std::uint16_t*> keys;
        std::vector<const std::uint16_t*> values;
        const std::uint32_t key_head = head / (heads.heads / heads.key_value_heads);
        for (std::uint32_t s = 0; s <= positions[row]; ++s) {
          keys.push_back(pages.element(records[row], s, key_head, true));
          values.push_back(pages.element(records[row], s, key_head, false));
        }
        const auto attended = contract_attention(
            {&buffer[row * shape.row_floats + head * heads.head_dim], heads.head_dim}, keys,
            values);
        for (const float value : attended) result.push_back(gpu::to_bfloat16(value));
      }
    }
    return result;
  }

  Bfloat16s by_kernel(simt::Stream& stream) {
    std::vector<std::uint32_t> first;
    for (const auto record : records) first.push_back(pages.first_page[record]);
    const std::size_t context = *std::max_element(positions.begin(), positions.end()) + 1;
    const gpu::TokenRows batch{records.size(),   context,      nullptr,
                               positions.data(), first.data(), pages.table.data()};
    const unsigned splits = gpu::attention_splits(context);
    const std::size_t partials = records.size() * heads.heads * splits;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    Floats maxima(partials, nan);
    Floats sums(partials, nan);
    Floats outputs(partials * heads.head_dim, nan);
    std::vector<std::uint32_t> counters(gpu::attention_counters(shape, records.size()));
    Bfloat16s attended(records.size() * heads.heads * heads.head_dim, 0x7FC0);
    gpu::launch_attention(stream, shape, {}, buffer.data(), batch,
                          pages.shape.keys(pages.view(), 0), pages.shape.values(pages.view(), 0),
                          {maxima.data(), sums.data(), outputs.data(), counters.data(), splits},
                          attended.data());
    for (const auto counter : counters) REQUIRE(counter == 0);
    return attended;
  }

  void permute(unsigned seed) {
    std::vector<std::size_t> order(records.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    const AttentionProblem before = *this;
    for (std::size_t i = 0; i < order.size(); ++i) {
      records[i] = before.records[order[i]];
      positions[i] = before.positions[order[i]];
      std::copy_n(&before.buffer[order[i] * shape.row_floats], shape.row_floats,
                  &buffer[i * shape.row_floats]);
    }
  }
};

}  // namespace

TEST_CASE(
    "attention has the contract's bits for every head shape, context, fork and thread order") {
  // One of each form at least: sizes up to 64, 128 and 256; 1, 2, 4 and 8 queries of a key head.
  const auto heads = GENERATE(HeadShape{4, 4, 64}, HeadShape{2, 1, 6}, HeadShape{4, 1, 48},
                              HeadShape{9, 1, 64}, HeadShape{5, 5, 20}, HeadShape{3, 3, 40},
                              HeadShape{1, 1, 72}, HeadShape{4, 2, 80}, HeadShape{3, 1, 96},
                              HeadShape{8, 2, 128}, HeadShape{5, 1, 104}, HeadShape{1, 1, 136},
                              HeadShape{2, 1, 192}, HeadShape{3, 1, 144}, HeadShape{8, 1, 256});
  AttentionProblem problem(heads, {1, 16, 255, 256, 257, 40, 530}, 3, heads.heads * heads.head_dim);
  for (const std::uint64_t seed : {1U, 2U}) {
    if (seed > 1) problem.permute(7);
    simt::Stream stream{seed, 0, {}, {}};
    INFO(heads.heads << " heads, " << heads.key_value_heads << ", size " << heads.head_dim);
    REQUIRE(different(problem.by_kernel(stream), problem.by_contract()) == 0);
    REQUIRE(stream.launches == 1);
  }
}

TEST_CASE("attention of 1 to 64 rows has the bits that each row has alone") {
  const HeadShape heads{4, 2, 64};
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t i = 0; i < 64; ++i) lengths.push_back(1 + i * 37 % 300);
  AttentionProblem all(heads, lengths, 0, 3);
  simt::Stream stream;
  const auto together = all.by_kernel(stream);
  const std::size_t row_size = std::size_t{heads.heads} * heads.head_dim;
  for (const std::size_t row : {0U, 7U, 8U, 33U, 63U}) {
    AttentionProblem alone = all;
    alone.records = {all.records[row]};
    alone.positions = {all.positions[row]};
    alone.buffer.assign(&all.buffer[row * all.shape.row_floats],
                        &all.buffer[row * all.shape.row_floats] + all.shape.row_floats);
    REQUIRE(different(alone.by_kernel(stream),
                      std::span(together).subspan(row * row_size, row_size)) == 0);
  }
}

TEST_CASE("planted: each barrier of attention removed, and a wait one short, show") {
  // Two splits, the second short, so that blocks meet at the counter.
  AttentionProblem problem({4, 2, 64}, {300, 40}, 0, 5);
  const auto expected = problem.by_contract();
  simt::Stream sound;
  REQUIRE(different(problem.by_kernel(sound), expected) == 0);
  REQUIRE(sound.barrier_lines.size() == 7);
  const auto shows = [&](const simt::PlantedDefect& defect) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      simt::Stream stream{seed, 0, defect, {}};
      try {
        if (different(problem.by_kernel(stream), expected) != 0) return true;
      } catch (const simt::LaunchFailure&) {
        return true;
      }
    }
    return false;
  };
  for (const unsigned line : sound.barrier_lines) {
    INFO("the barrier on line " << line << " of attention.cuh");
    CHECK(shows({.barrier_line = line}));
  }
  CHECK(shows({.wait_one_short = true}));
  CHECK_FALSE(shows({}));
}

TEST_CASE("planted: a mask off by one and a stale page show in attention") {
  for (const std::uint32_t length : {30U, 256U, 257U}) {
    AttentionProblem problem({4, 2, 64}, {length + 1, 40}, 0, length);
    problem.positions[0] = length - 1;
    const auto expected = problem.by_contract();
    simt::Stream stream;
    REQUIRE(different(problem.by_kernel(stream), expected) == 0);
    for (const std::uint32_t masked : {length - 2, length}) {
      AttentionProblem planted = problem;
      planted.positions[0] = masked;
      CHECK(different(planted.by_kernel(stream), expected) > 0);
    }
    AttentionProblem stale = problem;
    stale.pages.table[0] = stale.pages.table[1];
    CHECK(different(stale.by_kernel(stream), expected) > 0);
  }
}
