#include "gpu/llm/transformer/kernels/cuda/rows.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/kernels/cuda/rotary.cuh"
#include "gpu/llm/transformer/kernels/cuda/token_step.cuh"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"
#include "tests/simt/transformer/contract.hpp"

using namespace tempera;
using namespace tempera::tests;
namespace simt = tempera::gpu::simt;

namespace {

constexpr unsigned rows = 5;
constexpr unsigned pages_count = 7;

/// Positions of five rows and the pages that their tokens are in.
struct BatchArrays {
  std::vector<std::uint32_t> tokens = {3, 40, 16, 0, 49};
  std::vector<std::uint32_t> positions = {0, 15, 16, 31, 5};
  std::vector<std::uint32_t> first_page = {0, 1, 2, 4, 6};
  std::vector<std::uint32_t> table = {6, 2, 0, 5, 1, 3, 4};

  gpu::TokenRows batch() const {
    return {rows, 32, tokens.data(), positions.data(), first_page.data(), table.data()};
  }
  std::uint32_t page(unsigned row) const { return table[first_page[row] + positions[row] / 16]; }
};

struct PageBytes {
  std::vector<simt::Vector16> vectors;
  gpu::ArraysLayout layout;
  explicit PageBytes(const gpu::ArraysLayout& of)
      : vectors(pages_count * of.bytes() / 16), layout(of) {
    std::memset(vectors.data(), 0xAB, vectors.size() * 16);
  }
  gpu::PageMemory view() { return gpu::pages_at(vectors.data(), pages_count, layout); }
};

}  // namespace

TEST_CASE("an embedding comes out of the fragments as it went in") {
  std::mt19937 random(1);
  const BatchArrays arrays;
  for (const unsigned size : {16U, 40U, 300U}) {
    const unsigned vocabulary = 50;
    const auto matrix = random_bfloat16s(std::size_t{vocabulary} * size, 1.0f, random);
    const auto fragments = packed_fragments(matrix, vocabulary, size);
    Floats states(rows * size);
    simt::Stream stream;
    simt::launch({.blocks = {rows}, .threads = gpu::row_threads, .shared_bytes = 0}, stream,
                 gpu::embed_rows, fragments.data(), arrays.batch(), size, states.data());
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned i = 0; i < size; ++i) {
        REQUIRE(states[row * size + i] ==
                gpu::from_bfloat16(matrix[arrays.tokens[row] * size + i]));
      }
    }
  }
}

TEST_CASE("norms of rows have the contract's bits, in rows and in pages, and are gathered again") {
  std::mt19937 random(2);
  const BatchArrays arrays;
  for (const unsigned size : {8U, 200U, 256U, 1000U}) {
    const auto states = random_floats(rows * size, 3.0f, random);
    const auto weight = random_floats(size, 1.0f, random);
    Bfloat16s expected;
    for (unsigned row = 0; row < rows; ++row) {
      for (const float x : contract_norm({&states[row * size], size}, weight, 1e-6f, 256)) {
        expected.push_back(gpu::to_bfloat16(x));
      }
    }
    const simt::LaunchShape shape{.blocks = {rows}, .threads = 256, .shared_bytes = 1024};
    for (const std::uint64_t seed : {1, 2, 3}) {
      simt::Stream stream{seed, 0, {}, {}};
      Bfloat16s normed(rows * size);
      simt::launch(shape, stream, gpu::normalize_rows, states.data(), weight.data(), size, 1e-6f,
                   normed.data());
      REQUIRE(different(normed, expected) == 0);

      // After 64 other bytes of every page.
      PageBytes pages({1, 64 + 16 * size * 2, 0});
      const gpu::PagePart part = gpu::part_after(gpu::part_of_array(pages.view(), 0), 64);
      const PageBytes before = pages;
      simt::launch(shape, stream, gpu::normalize_into_slots, states.data(), weight.data(),
                   arrays.batch(), size, 1e-6f, part);
      std::vector<std::uint32_t> page_of;
      std::vector<std::uint32_t> slot_of;
      for (unsigned row = 0; row < rows; ++row) {
        page_of.push_back(arrays.page(row));
        slot_of.push_back(arrays.positions[row] % 16);
      }
      Bfloat16s gathered(rows * size);
      simt::launch({.blocks = {rows}, .threads = 256, .shared_bytes = 0}, stream, gpu::gather_slots,
                   gpu::CachedRows{rows, page_of.data(), slot_of.data()}, size, part,
                   gathered.data());
      REQUIRE(different(gathered, expected) == 0);
      std::size_t changed = 0;
      const auto* now = reinterpret_cast<const unsigned char*>(pages.vectors.data());
      const auto* then = reinterpret_cast<const unsigned char*>(before.vectors.data());
      for (std::size_t i = 0; i < pages.vectors.size() * 16; ++i) changed += now[i] != then[i];
      REQUIRE(changed <= rows * size * 2);
    }
    // The one barrier, removed.
    simt::Stream sound;
    Bfloat16s normed(rows * size);
    simt::launch(shape, sound, gpu::normalize_rows, states.data(), weight.data(), size, 1e-6f,
                 normed.data());
    REQUIRE(sound.barrier_lines.size() == 1);
    simt::Stream planted{1, 0, {.barrier_line = *sound.barrier_lines.begin()}, {}};
    simt::launch(shape, planted, gpu::normalize_rows, states.data(), weight.data(), size, 1e-6f,
                 normed.data());
    REQUIRE(different(normed, expected) > 0);
  }
}

namespace {

/// Whether a page of 8 bits has this head at a position.
bool has_stored(const gpu::PagePart& part, std::size_t page, std::size_t head,
                std::uint32_t position, const ContractHead& expected) {
  const std::size_t size = expected.elements.size();
  const auto* const of_head = gpu::part_of_page<unsigned char>(part, page) + head * 16 * (size + 1);
  for (std::size_t d = 0; d < size; ++d) {
    if (static_cast<float>(of_head[position % 16 * size + d]) != expected.elements[d] + 128)
      return false;
  }
  return of_head[16 * size + position % 16] == std::ilogb(expected.power) + 127;
}

}  // namespace

TEST_CASE(
    "heads are normed and rotated with the contract's bits, keys and values into their slots") {
  // The last of them: of how many elements, the first ones, rotate; 0: all.
  const auto arithmetic =
      GENERATE(gpu::Arithmetic::tensor_core, gpu::Arithmetic::tensor_core_8_bit_pages);
  const bool has_8_bits = arithmetic == gpu::Arithmetic::tensor_core_8_bit_pages;
  const auto [heads, key_heads, size, rotary_dim] =
      GENERATE(table<unsigned, unsigned, unsigned, unsigned>({{4, 2, 64, 0},
                                                              {3, 3, 80, 20},
                                                              {2, 1, 96, 0},
                                                              {8, 2, 128, 0},
                                                              {1, 1, 256, 64},
                                                              {2, 2, 6, 4}}));
  const unsigned rotating = rotary_dim == 0 ? size : rotary_dim;
  const bool has_norms = GENERATE(true, false);
  std::mt19937 random(size);
  const BatchArrays arrays;
  const gpu::PageShape pages_shape{1, key_heads, size, 8, arithmetic};
  PageBytes pages(pages_shape.layout());
  const std::size_t query = std::size_t{heads} * size;
  const std::size_t key_value = std::size_t{key_heads} * size;
  const gpu::AttentionShape shape{
      heads,     key_heads, size, query + 5, query + key_value + 7, query + 2 * key_value + 9,
      rotary_dim};
  const auto before = random_floats(rows * shape.row_floats, 2.0f, random);
  const auto query_norm = random_floats(size, 1.0f, random);
  const auto key_norm = random_floats(size, 1.0f, random);
  Floats cosines;
  Floats sines;
  for (unsigned i = 0; i < 32 * rotating / 2; ++i) {
    cosines.push_back(std::cos(0.1f * static_cast<float>(i)));
    sines.push_back(std::sin(0.1f * static_cast<float>(i)));
  }
  Floats buffer = before;
  simt::Stream stream{size, 0, {}, {}};
  simt::launch(
      {.blocks = {(heads + 2 * key_heads + 7) / 8, rows}, .threads = 256, .shared_bytes = 0},
      stream,
      has_8_bits ? gpu::rotate_heads<gpu::EightBitElements>
                 : gpu::rotate_heads<gpu::Bfloat16Elements>,
      shape,
      gpu::HeadRotation{has_norms ? query_norm.data() : nullptr,
                        has_norms ? key_norm.data() : nullptr,
                        1e-5f,
                        {cosines.data(), sines.data()}},
      arrays.batch(), pages_shape.keys(pages.view(), 0), pages_shape.values(pages.view(), 0),
      buffer.data());
  for (unsigned row = 0; row < rows; ++row) {
    const std::uint32_t position = arrays.positions[row];
    const auto rotated = [&](std::size_t begin, const Floats& norm) {
      const std::span<const float> head{&before[row * shape.row_floats + begin], size};
      const auto normed =
          has_norms ? contract_norm(head, norm, 1e-5f, 32) : Floats(head.begin(), head.end());
      Floats result = contract_rotation({normed.begin(), normed.begin() + rotating},
                                        {&cosines[position * rotating / 2], rotating / 2},
                                        {&sines[position * rotating / 2], rotating / 2});
      result.insert(result.end(), normed.begin() + rotating, normed.end());
      return result;
    };
    for (unsigned head = 0; head < heads; ++head) {
      REQUIRE(different(rotated(head * size, query_norm),
                        {&buffer[row * shape.row_floats + head * size], size}) == 0);
    }
    for (unsigned head = 0; head < key_heads; ++head) {
      const Floats key_floats = rotated(shape.key_begin + head * size, key_norm);
      const std::span<const float> value_floats{
          &before[row * shape.row_floats + shape.value_begin + head * size], size};
      if (has_8_bits) {
        REQUIRE(has_stored(pages_shape.keys(pages.view(), 0), arrays.page(row), head, position,
                           contract_8_bits(key_floats)));
        REQUIRE(has_stored(pages_shape.values(pages.view(), 0), arrays.page(row), head, position,
                           contract_8_bits(value_floats)));
        continue;
      }
      Bfloat16s key;
      Bfloat16s value;
      for (const float x : key_floats) key.push_back(gpu::to_bfloat16(x));
      for (const float x : value_floats) value.push_back(gpu::to_bfloat16(x));
      const std::size_t slot = (std::size_t{head} * 16 + position % 16) * size;
      REQUIRE(different(key, {gpu::part_of_page<std::uint16_t>(pages_shape.keys(pages.view(), 0),
                                                               arrays.page(row)) +
                                  slot,
                              size}) == 0);
      REQUIRE(different(value, {gpu::part_of_page<std::uint16_t>(
                                    pages_shape.values(pages.view(), 0), arrays.page(row)) +
                                    slot,
                                size}) == 0);
    }
  }
}

namespace {

/// What a page has in every array.
std::string page_of(PageBytes& of, std::uint32_t page) {
  std::string all;
  for (std::size_t array = 0; array < of.layout.arrays(); ++array) {
    const gpu::PagePart part = gpu::part_of_array(of.view(), array);
    all.append(gpu::part_of_page<char>(part, page), part.stride);
  }
  return all;
}

/// Whether pages 1 and 6 are what 3 and 0 were before, and every other page what it was.
bool is_copied(PageBytes before, PageBytes& after) {
  for (std::uint32_t page = 0; page < pages_count; ++page) {
    const std::uint32_t from = page == 1 ? 3 : page == 6 ? 0 : page;
    if (page_of(after, page) != page_of(before, from)) return false;
  }
  return true;
}

/// No two of their vectors are alike.
PageBytes random_pages(const gpu::ArraysLayout& layout) {
  PageBytes pages(layout);
  std::mt19937 random(4);
  const auto word = [&] { return static_cast<std::uint32_t>(random()); };
  for (auto& vector : pages.vectors) vector = {word(), word(), word(), word()};
  return pages;
}

/// Layers and what is of none, layers alone, and one array.
const std::vector<gpu::ArraysLayout> layouts{
    {5, 4096, 48}, {3, 16, 4096}, {7, 5 * 4096 + 48, 0}, {1, 96, 0}};

}  // namespace

TEST_CASE("pages are copied whole, in every array, and a page not copied shows") {
  const std::vector<std::uint32_t> sources = {3, 0};
  const std::vector<std::uint32_t> targets = {1, 6};
  for (const gpu::ArraysLayout& layout : layouts) {
    const PageBytes before = random_pages(layout);
    const auto copy = [&](unsigned copies) {
      PageBytes after = before;
      simt::Stream stream;
      simt::launch({.blocks = {2, copies}, .threads = 256, .shared_bytes = 0}, stream,
                   gpu::copy_whole_pages, sources.data(), targets.data(), after.view());
      return is_copied(before, after);
    };
    REQUIRE(copy(2));
    REQUIRE_FALSE(copy(1));
  }
}

TEST_CASE("a step begins with copies of whole pages, in every array") {
  const std::vector<gpu::PagedCache::PageCopy> copies = {{3, 1}, {0, 6}};
  for (const gpu::ArraysLayout& layout : layouts) {
    const PageBytes before = random_pages(layout);
    const auto begin = [&](std::uint32_t count) {
      PageBytes pages = before;
      PageBytes states = before;
      const gpu::StepCounts counts{0, count, 0, count};
      gpu::StepTables tables{};
      tables.row_states = 1;
      std::uint32_t first_row = 0;
      tables.first_row = &first_row;
      simt::Stream stream;
      simt::launch({.blocks = {3}, .threads = gpu::step_threads, .shared_bytes = 0}, stream,
                   gpu::begin_step,
                   gpu::StepUpdate{&counts, nullptr, copies.data(), copies.data(), nullptr}, tables,
                   static_cast<const std::uint64_t*>(nullptr), pages.view(), states.view());
      return is_copied(before, pages) && is_copied(before, states);
    };
    REQUIRE(begin(2));
    REQUIRE_FALSE(begin(1));
  }
}
