#include "tests/simt/transformer/attention_problem.hpp"

using namespace tempera;
using namespace tempera::tests;
namespace simt = tempera::gpu::simt;

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
  require_every_barrier_of(problem, expected);
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
