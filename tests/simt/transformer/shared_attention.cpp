// Rows whose pages are the same go together, and keep the bits that each has alone.
#include <planted/attention_defects.hpp>
#include <string_view>

#include "tests/simt/transformer/attention_problem.hpp"

namespace tempera::shared_attention_test {

using namespace tempera;
using namespace tempera::tests;

namespace {

/// One of each form at least, and one that a block has no room for several rows of.
constexpr HeadShape head_shapes[] = {
    {4, 4, 64}, {4, 2, 64},  {4, 1, 48},  {9, 1, 64},  {3, 3, 40},  {2, 1, 6},   {2, 2, 128},
    {4, 2, 80}, {8, 2, 128}, {5, 1, 104}, {1, 1, 136}, {2, 1, 192}, {3, 1, 144}, {8, 1, 256}};

}  // namespace

TEST_CASE("forks that share no split, some and all of them have the contract's bits together") {
  for (const HeadShape& heads : head_shapes) {
    // Forks share 34 pages as far as they reach: two splits, one, or none.
    AttentionProblem problem(heads, {545, 700, 545, 290, 257, 256, 530, 40, 1, 513, 560, 272}, 34,
                             heads.heads * heads.head_dim);
    const Bfloat16s expected = problem.by_contract();
    for (const bool own_records : {true, false}) {
      problem.own_records = own_records;
      for (const std::uint64_t seed : {1U, 2U}) {
        problem.share(static_cast<unsigned>(seed));
        REQUIRE(*std::max_element(problem.splits.begin(), problem.splits.end()) == 2);
        simt::Stream stream{seed, 0, {}, {}};
        INFO(heads.heads << " heads, " << heads.key_value_heads << ", size " << heads.head_dim);
        REQUIRE(different(problem.by_kernel(stream), expected) == 0);
        REQUIRE(stream.launches == 1);
      }
    }
  }
}

TEST_CASE("neighbouring rows of a prompt have the contract's bits together, across a split's end") {
  for (const HeadShape& heads : head_shapes) {
    AttentionProblem problem(heads, {540, 20, 300}, 0, heads.heads * heads.head_dim);
    for (const std::uint32_t first : {0U, 247U, 509U}) {
      AttentionProblem prompt = problem;
      prompt.add_prompt(first, 13);
      const Bfloat16s expected = prompt.by_contract();
      for (const std::uint64_t seed : {1U, 2U}) {
        // In the order of the tokens, as a pass has them, and in another.
        prompt.share(static_cast<unsigned>(seed));
        if (seed == 1) {
          std::iota(prompt.order.begin(), prompt.order.end(), 0U);
          for (std::size_t i = 1; i < prompt.order.size(); ++i)
            prompt.splits[i] = i < 13 ? prompt.positions[i - 1] / 256 + 1 : 0;
        }
        simt::Stream stream{seed, 0, {}, {}};
        INFO(heads.heads << " heads, size " << heads.head_dim << ", from " << first);
        REQUIRE(different(prompt.by_kernel(stream), expected) == 0);
      }
    }
  }
}

TEST_CASE("what rows share is read once: only the first of a group looks into its pages") {
  for (const bool own_records : {true, false}) {
    for (const HeadShape& heads : {HeadShape{4, 1, 64}, HeadShape{8, 2, 128}, HeadShape{1, 1, 8}}) {
      AttentionProblem problem(heads, {545, 530, 560, 520, 540, 550, 600, 580}, 32, 3);
      problem.own_records = own_records;
      problem.share(1);
      std::iota(problem.order.begin(), problem.order.end(), 0U);
      problem.splits.assign(problem.order.size(), 2);
      problem.splits[0] = 0;
      const Bfloat16s expected = problem.by_contract();
      // A page of NaN in the place of every shared one, but for the rows that lead.
      const unsigned together = gpu::attention_rows(problem.shape, problem.pages.elements());
      REQUIRE(together > 1);
      const auto nowhere = static_cast<std::uint32_t>(problem.pages.memory.size() * 16 /
                                                      problem.pages.shape.layout().bytes());
      problem.pages.memory.resize(
          problem.pages.memory.size() + problem.pages.shape.layout().bytes() / 16,
          {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF});
      for (std::uint32_t row = 0; row < problem.records.size(); ++row) {
        if (row % together == 0) continue;
        for (std::uint32_t page = 0; page < 32; ++page)
          problem.pages.table[problem.pages.first_page[row] + page] = nowhere;
      }
      simt::Stream stream;
      REQUIRE(different(problem.by_kernel(stream), expected) == 0);
      // Where nothing is said to be shared, each row looks into its own.
      problem.order.clear();
      REQUIRE(different(problem.by_kernel(stream), expected) > 0);
    }
  }
}

TEST_CASE("planted: each barrier of rows together removed, and a wait one short, show") {
  // Groups of several rows, of one, and two after each other in one block.
  AttentionProblem problem({4, 2, 64}, {300, 40, 290, 280}, 16, 5);
  problem.share(1);
  const Bfloat16s expected = problem.by_contract();
  require_every_barrier_of(problem, expected);
}

namespace {

const ContractHead infinite_head{Floats(64, std::numeric_limits<float>::infinity())};

}  // namespace

TEST_CASE("a value after a row's own position is not even multiplied by what it weighs there") {
  AttentionProblem prompt({4, 2, 64}, {300}, 0, 8);
  prompt.add_prompt(280, 16);
  // An infinite value of the last token, whose weight in the rows before it is none.
  for (const std::uint32_t head : {0U, 1U}) prompt.pages.store(infinite_head, 0, 295, head, false);
  const Bfloat16s expected = prompt.by_contract();
  prompt.share(1);
  simt::Stream stream;
  const Bfloat16s found = prompt.by_kernel(stream);
  const std::size_t before = 15 * expected.size() / 16;
  REQUIRE(different(std::span(found).first(before), std::span(expected).first(before)) == 0);
}

TEST_CASE("every defect planted in rows together is caught, and the copy without one is sound") {
  // Forks of unequal sharing, one of which has scores far from the others'. A prompt in the order
  // of its tokens and in another, across a split's end, and one across a run's, with a value that
  // is infinite after the first seven of its rows.
  const auto in_order = [](AttentionProblem& problem, std::uint32_t first) {
    problem.add_prompt(first, 14);
    problem.share(1);
    std::iota(problem.order.begin(), problem.order.end(), 0U);
    for (std::size_t i = 1; i < 15; ++i)
      problem.splits[i] = i < 14 ? problem.positions[i - 1] / 256 + 1 : 0;
  };
  AttentionProblem forks({4, 2, 64}, {545, 530, 560, 290, 700, 270, 20, 600, 580}, 33, 7);
  forks.share(1);
  for (std::size_t i = 0; i < forks.shape.row_floats; ++i)
    forks.buffer[forks.shape.row_floats + i] *= 100.0F;
  AttentionProblem prompt({4, 2, 64}, {300, 40}, 0, 8);
  AttentionProblem unbounded = prompt;
  in_order(prompt, 250);
  in_order(unbounded, 283);
  unbounded.pages.store(infinite_head, 0, 290, 0, false);
  AttentionProblem shuffled = prompt;
  shuffled.share(2);
  // A defect may look for pages after a record's last.
  for (AttentionProblem* problem : {&forks, &prompt, &unbounded, &shuffled})
    problem->pages.table.resize(problem->pages.table.size() + 64, 0);
  const auto has_contract_bits = [](AttentionProblem problem, const gpu::PlantedAttention& planted,
                                    std::size_t rows) {
    const std::size_t compared = rows * problem.heads.heads * problem.heads.head_dim;
    const Bfloat16s expected = problem.by_contract();
    for (const bool own_records : {false, true}) {
      if (own_records && problem.records[0] == problem.records[1]) continue;
      problem.own_records = own_records;
      simt::Stream stream;
      try {
        const Bfloat16s found = problem.by_kernel(stream, planted.attend);
        if (different(std::span(found).first(compared), std::span(expected).first(compared)) != 0)
          return false;
      } catch (const simt::LaunchFailure&) {
        return false;
      }
    }
    return true;
  };
  std::size_t planted = 0;
  for (const gpu::PlantedAttention& attention : gpu::planted_attentions) {
    CAPTURE(attention.defect);
    const bool sound = std::string_view(attention.defect) == "none";
    const bool agrees =
        has_contract_bits(forks, attention, 9) && has_contract_bits(prompt, attention, 15) &&
        has_contract_bits(shuffled, attention, 15) && has_contract_bits(unbounded, attention, 7);
    CHECK(agrees == sound);
    planted += sound ? 0 : 1;
  }
  CHECK(planted == 15);
}

}  // namespace tempera::shared_attention_test
