#include "gpu/llm/transformer/cache/page_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <set>
#include <vector>

#include "gpu/device/planted_fault.hpp"
#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu::page_pool_test {

namespace {

/// Where a stretch of memory begins, and where it ends.
using Stretch = std::pair<std::uintptr_t, std::uintptr_t>;

Stretch stretch_of(const PagePart& part, std::uint32_t page, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(part_of_page<std::byte>(part, page));
  return {begin, begin + bytes};
}

/// Pieces of 2 MiB that stretches touch: what a device keeps translations of.
std::size_t translations(const std::vector<Stretch>& stretches) {
  constexpr std::uintptr_t piece = std::uintptr_t{1} << 21;
  std::set<std::uintptr_t> touched;
  for (const auto& [begin, end] : stretches)
    for (std::uintptr_t at = begin / piece; at <= (end - 1) / piece; ++at) touched.insert(at);
  return touched.size();
}

/// The keys and the values of all pages in a layer.
std::vector<Stretch> stretches_of(const PageShape& shape, const PageMemory& memory,
                                  std::size_t layer, const std::vector<std::uint32_t>& pages) {
  std::vector<Stretch> all;
  const std::size_t bytes = shape.layout().element_bytes / 2;
  for (const std::uint32_t page : pages) {
    all.push_back(stretch_of(shape.keys(memory, layer), page, bytes));
    all.push_back(stretch_of(shape.values(memory, layer), page, bytes));
  }
  return all;
}

}  // namespace

TEST_CASE("parts of different pages and layers never overlap", "[cache]") {
  for (const Arithmetic arithmetic : {Arithmetic::float32, Arithmetic::tensor_core,
                                      Arithmetic::tensor_core_8_bit_pages, Arithmetic::integer}) {
    const PageShape shape{5, 2, 6, 11, arithmetic};
    PagePool pool(shape.layout(), 3);
    std::vector<std::uint32_t> pages;
    while (pages.size() < 100) pages.push_back(pool.take());
    const PageMemory memory = pool.memory();
    std::vector<Stretch> all;
    for (std::size_t layer = 0; layer < 5; ++layer) {
      const auto of_layer = stretches_of(shape, memory, layer, pages);
      all.insert(all.end(), of_layer.begin(), of_layer.end());
    }
    for (const std::uint32_t page : pages)
      all.push_back(stretch_of(shape.hidden_states(memory), page, shape.layout().last_bytes));
    std::sort(all.begin(), all.end());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      bytes += all[i].second - all[i].first;
      if (i > 0) REQUIRE(all[i - 1].second <= all[i].first);
    }
    CHECK(bytes == 100 * pool.page_bytes());
  }
}

TEST_CASE("the pages that a layer reads need as few translations as their bytes", "[cache]") {
  // Qwen3-8B's pages: 64 KiB of each layer. Four records of 2,048 tokens; no page is written.
  const PageShape shape{36, 8, 128, 4096, Arithmetic::tensor_core};
  PagePool pool(shape.layout());
  std::vector<std::uint32_t> pages;
  while (pages.size() < 4 * 2048 / page_tokens) pages.push_back(pool.take());
  for (const std::size_t layer : {0, 17, 35}) {
    const auto stretches = stretches_of(shape, pool.memory(), layer, pages);
    // 32 MiB, and a piece more where they begin inside of one.
    CHECK(translations(stretches) <= 17);
  }
  // With a page's layers one after another each page would need a translation of its own.
  auto* const first = part_of_array(pool.memory(), 0).first;
  std::vector<Stretch> by_page;
  for (const std::uint32_t page : pages)
    by_page.push_back(stretch_of({first, shape.layout().bytes()}, page, 65536));
  CHECK(translations(by_page) >= pages.size());
}

TEST_CASE("a pool that grows keeps what its pages hold in every array", "[cache]") {
  const ArraysLayout layout{3, 32, 48};
  PagePool pool(layout, 4);
  std::vector<std::uint32_t> pages;
  const auto byte_of = [](std::uint32_t page, std::size_t array) {
    return static_cast<std::byte>(1 + (page * 5 + array) % 250);
  };
  const auto wrong = [&] {
    std::size_t count = 0;
    for (std::size_t array = 0; array < layout.arrays(); ++array) {
      const PagePart part = part_of_array(pool.memory(), array);
      for (const std::uint32_t page : pages)
        for (std::size_t i = 0; i < part.stride; ++i)
          count += part_of_page<std::byte>(part, page)[i] != byte_of(page, array);
    }
    return count;
  };
  const auto take = [&] {
    pages.push_back(pool.take());
    for (std::size_t array = 0; array < layout.arrays(); ++array) {
      const PagePart part = part_of_array(pool.memory(), array);
      std::fill_n(part_of_page<std::byte>(part, pages.back()), part.stride,
                  byte_of(pages.back(), array));
    }
  };
  while (pages.size() < 1000) take();
  CHECK(wrong() == 0);
  // No memory for the third array, however few pages are asked for: the pool stays as it is.
  while (pool.free_pages() > 0) take();
  const std::size_t before = pool.pages();
  {
    PlantedFault full;
    full.arrays_until_full = 2;
    const WithPlantedFault planted(full);
    CHECK_THROWS_AS(pool.make_room(2 * before), std::bad_alloc);
    CHECK(pool.pages() == before);
    CHECK(pool.free_pages() == 0);
    CHECK(wrong() == 0);
  }
  {
    PlantedFault full;
    full.arrays_until_full = 0;
    const WithPlantedFault planted(full);
    CHECK_THROWS_AS(pool.take(), std::bad_alloc);
    CHECK(pool.pages() == before);
  }
  take();
  CHECK(pool.pages() > before);
  CHECK(wrong() == 0);
}

}  // namespace tempera::gpu::page_pool_test
