#include "tests/simt/transformer/attention_problem.hpp"

using namespace tempera;
using namespace tempera::tests;
namespace simt = tempera::gpu::simt;

namespace {

HeadShape eight_bits(unsigned heads, unsigned key_value_heads, unsigned head_dim) {
  return {heads, key_value_heads, head_dim, gpu::Arithmetic::tensor_core_8_bit_pages};
}

void require_contract(const HeadShape& heads) {
  AttentionProblem problem(heads, {1, 16, 255, 256, 257, 40, 530}, 3, heads.heads * heads.head_dim);
  for (const std::uint64_t seed : {1U, 2U}) {
    if (seed > 1) problem.permute(7);
    simt::Stream stream{seed, 0, {}, {}};
    INFO(heads.heads << " heads, " << heads.key_value_heads << ", size " << heads.head_dim);
    REQUIRE(different(problem.by_kernel(stream), problem.by_contract()) == 0);
    REQUIRE(stream.launches == 1);
  }
}

/// One of each form at least: sizes up to 64, 128 and 256; 1, 2, 4 and 8 queries of a key head.
constexpr HeadShape head_shapes[] = {{4, 4, 64},  {2, 1, 6},   {4, 1, 48},  {9, 1, 64},
                                     {5, 5, 20},  {3, 3, 40},  {1, 1, 72},  {4, 2, 80},
                                     {3, 1, 96},  {8, 2, 128}, {5, 1, 104}, {1, 1, 136},
                                     {2, 1, 192}, {3, 1, 144}, {8, 1, 256}};

}  // namespace

TEST_CASE(
    "attention has the contract's bits for every head shape, context, fork and thread order") {
  for (const HeadShape& heads : head_shapes) require_contract(heads);
}

TEST_CASE("attention over pages of 8 bits has the contract's bits for every head shape and fork") {
  for (const HeadShape& heads : head_shapes)
    require_contract(eight_bits(heads.heads, heads.key_value_heads, heads.head_dim));
}

TEST_CASE("a head of 8 bits that has an infinity or a NaN gives NaN to all that see it") {
  for (const bool key : {true, false}) {
    AttentionProblem problem(eight_bits(2, 1, 64), {300, 40}, 0, 6);
    problem.pages.store({Floats(64, 0.0F), std::numeric_limits<float>::infinity()}, 0, 290, 0, key);
    simt::Stream stream;
    const Bfloat16s found = problem.by_kernel(stream);
    for (std::size_t i = 0; i < found.size(); ++i)
      REQUIRE(std::isnan(gpu::from_bfloat16(found[i])) == (i < 2 * 64));
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
  AttentionProblem problem(GENERATE(HeadShape{4, 2, 64}, eight_bits(4, 2, 64)), {300, 40}, 0, 5);
  const auto expected = problem.by_contract();
  require_every_barrier_of(problem, expected);
}

TEST_CASE("planted: a mask off by one and a stale page show in attention") {
  const HeadShape heads = GENERATE(HeadShape{4, 2, 64}, eight_bits(4, 2, 64));
  for (const std::uint32_t length : {30U, 256U, 257U}) {
    AttentionProblem problem(heads, {length + 1, 40}, 0, length);
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
