#include "gpu/transformer/cache/paged_cache.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace tempera::gpu {

namespace {

const PageShape small{1, 1, 2, 3};

std::size_t used(const PagePool& pool) { return pool.pages() - pool.free_pages(); }

void extend(PagedCache& cache, std::size_t length, std::size_t expected_copies) {
  std::vector<PagedCache::PageCopy> copies;
  cache.reserve(length, copies);
  CHECK(copies.size() == expected_copies);
  cache.hold(std::vector<TokenId>(length));
  CHECK(cache.length() == length);
}

}  // namespace

TEST_CASE("a page has room for all keys, values and hidden states", "[cache]") {
  const PageShape shape{3, 2, 4, 10};
  CHECK(shape.key_offset(0, 0) == 0);
  CHECK(shape.key_offset(0, 1) == 64);
  CHECK(shape.value_offset(0, 0) == 128);
  CHECK(shape.key_offset(1, 0) == 256);
  CHECK(shape.hidden_offset(0) == 768);
  CHECK(shape.hidden_offset(15) == 918);
  CHECK(shape.floats() == 928);
}

TEST_CASE("a fork shares whole pages and copies the partial one when it grows", "[cache]") {
  const auto pool = std::make_shared<PagePool>(small);
  PagedCache cache(pool);
  extend(cache, 40, 0);
  CHECK(used(*pool) == 3);
  const auto fork = cache.fork(36);
  auto& paged = dynamic_cast<PagedCache&>(*fork);
  CHECK(used(*pool) == 3);
  CHECK(paged.page_of(35) == cache.page_of(35));
  SECTION("the fork grows first") {
    extend(paged, 37, 1);
    extend(cache, 41, 0);
  }
  SECTION("the cache grows first") {
    extend(cache, 41, 1);
    extend(paged, 37, 0);
  }
  CHECK(used(*pool) == 4);
  CHECK(paged.page_of(36) != cache.page_of(36));
  CHECK(paged.page_of(31) == cache.page_of(31));
}

TEST_CASE("a fork on a page's edge copies nothing", "[cache]") {
  const auto pool = std::make_shared<PagePool>(small);
  PagedCache cache(pool);
  extend(cache, 40, 0);
  const auto fork = cache.fork(32);
  extend(dynamic_cast<PagedCache&>(*fork), 33, 0);
  CHECK(used(*pool) == 4);
  CHECK(cache.fork(0)->length() == 0);
  CHECK_THROWS_AS(cache.fork(41), std::invalid_argument);
}

TEST_CASE("pages go back to the pool with the last cache that holds them", "[cache]") {
  const auto pool = std::make_shared<PagePool>(small);
  auto cache = std::make_unique<PagedCache>(pool);
  extend(*cache, 40, 0);
  auto fork = cache->fork(20);
  cache.reset();
  CHECK(used(*pool) == 2);
  extend(dynamic_cast<PagedCache&>(*fork), 21, 0);
  fork.reset();
  CHECK(used(*pool) == 0);
}

TEST_CASE("the pool grows without losing what its pages hold", "[cache]") {
  PagePool pool(small);
  const auto first = pool.take();
  const std::size_t before = pool.pages();
  std::vector<std::uint32_t> taken;
  while (pool.pages() == before) taken.push_back(pool.take());
  CHECK(pool.pages() == 2 * before);
  CHECK(taken.size() == before);
  for (const auto page : taken) CHECK(page != first);
  pool.release(first);
  CHECK(pool.take() == first);
}

}  // namespace tempera::gpu
