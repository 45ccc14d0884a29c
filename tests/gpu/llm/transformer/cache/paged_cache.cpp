#include "gpu/llm/transformer/cache/paged_cache.hpp"

#include <stdexcept>

#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

namespace {

const ArraysLayout small = PageShape{1, 1, 2, 3, Arithmetic::float32}.layout();

std::size_t used(const PagePool& pool) { return pool.pages() - pool.free_pages(); }

void extend(PagedCache& cache, std::size_t length, std::size_t expected_copies) {
  std::vector<PagedCache::PageCopy> copies;
  cache.reserve(length, copies);
  CHECK(copies.size() == expected_copies);
  cache.hold(length - cache.length());
  CHECK(cache.length() == length);
}

}  // namespace

TEST_CASE("a page has room for all keys, values and hidden states", "[cache]") {
  const auto [arithmetic, size] = GENERATE(
      table<Arithmetic, std::size_t>({{Arithmetic::float32, sizeof(float)},
                                      {Arithmetic::tensor_core, sizeof(std::uint16_t)},
                                      {Arithmetic::tensor_core_ampere, sizeof(std::uint16_t)},
                                      {Arithmetic::bfloat16_pairs, sizeof(std::uint16_t)}}));
  const PageShape shape{3, 2, 4, 10, arithmetic};
  const ArraysLayout layout = shape.layout();
  CHECK(layout.equal_arrays == 3);
  CHECK(layout.arrays() == 4);
  CHECK(layout.bytes() == 928 * size);
  std::vector<std::byte> bytes(2 * layout.bytes());
  const PageMemory memory{bytes.data(), 2 * layout.element_bytes, layout};
  const auto begin_of = [&](const PagePart& part, std::size_t page) {
    return static_cast<std::size_t>(part_of_page<std::byte>(part, page) - bytes.data()) / size;
  };
  CHECK(begin_of(shape.keys(memory, 0), 0) == 0);
  CHECK(begin_of(shape.values(memory, 0), 0) == 128);
  CHECK(begin_of(shape.keys(memory, 0), 1) == 256);
  CHECK(begin_of(shape.keys(memory, 1), 0) == 512);
  CHECK(begin_of(shape.values(memory, 2), 1) == 1024 + 256 + 128);
  CHECK(begin_of(shape.hidden_states(memory), 0) == 1536);
  CHECK(begin_of(shape.hidden_states(memory), 1) == 1536 + 160);
}

TEST_CASE("a page of 8 bits has a byte for each element and one for each token's head", "[cache]") {
  const auto arithmetic =
      GENERATE(Arithmetic::tensor_core_8_bit_pages, Arithmetic::tensor_core_ampere_8_bit_pages);
  // Two heads of 4 elements and an exponent, times 16 tokens, are 160 bytes.
  const PageShape shape{3, 2, 4, 10, arithmetic};
  const ArraysLayout layout = shape.layout();
  CHECK(layout.equal_arrays == 3);
  CHECK(layout.element_bytes == 320);
  CHECK(layout.last_bytes == 320);  // hidden states, which are bfloat16s
  std::vector<std::byte> bytes(2 * layout.bytes());
  const PageMemory memory{bytes.data(), 2 * layout.element_bytes, layout};
  CHECK(part_of_page<std::byte>(shape.values(memory, 1), 1) - bytes.data() == 640 + 320 + 160);
  // A token of Qwen3-8B has 147,456 bytes of bfloat16s.
  CHECK(36 * PageShape{36, 8, 128, 4096, arithmetic}.layout().element_bytes / 16 == 74304);
}

TEST_CASE("a page of whole numbers has 16 bits an element and a word for each token's head",
          "[cache]") {
  // Two heads of 4 elements and an exponent, times 16 tokens, are 384 bytes.
  const PageShape shape{3, 2, 4, 10, Arithmetic::integer};
  const ArraysLayout layout = shape.layout();
  CHECK(layout.element_bytes == 768);
  CHECK(layout.last_bytes == 640);  // hidden states, which are float32
  std::vector<std::byte> bytes(2 * layout.bytes());
  const PageMemory memory{bytes.data(), 2 * layout.element_bytes, layout};
  CHECK(part_of_page<std::byte>(shape.values(memory, 1), 1) - bytes.data() == 1536 + 768 + 384);
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
  CHECK_THROWS_AS(cache.fork(41), Bug);
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

TEST_CASE("a fork shares states up to the nearest checkpoint and replays what is after it",
          "[cache][recurrent]") {
  const auto pool = std::make_shared<PagePool>(small);
  const auto states = std::make_shared<PagePool>(ArraysLayout{1, 16, 0}, std::size_t{1});
  const auto append = [](PagedCache& cache, std::size_t tokens) {
    std::vector<TokenId> text(cache.to_replay().begin(), cache.to_replay().end());
    while (text.size() < cache.length() - cache.computed() + tokens) {
      text.push_back(static_cast<TokenId>(cache.computed() + text.size()));
    }
    std::vector<PagedCache::PageCopy> copies;
    cache.reserve(cache.length() + tokens, copies);
    cache.reserve_states(cache.length() + tokens, copies);
    cache.hold(text);
    return copies.size();
  };
  PagedCache cache(pool, states);
  CHECK(append(cache, 150) == 0);
  CHECK(cache.states().size() == 3);
  CHECK(used(*states) == 3);
  CHECK(cache.to_replay().empty());
  // A fork of fewer tokens shares pages and states up to the checkpoint, and the tokens after it.
  const auto fork = cache.fork(140);
  auto& shorter = dynamic_cast<PagedCache&>(*fork);
  CHECK(shorter.length() == 140);
  CHECK(shorter.computed() == 128);
  CHECK(shorter.states().size() == 2);
  CHECK(shorter.pages().size() == 8);
  REQUIRE(shorter.to_replay().size() == 12);
  for (TokenId i = 0; i < 12; ++i) CHECK(shorter.to_replay()[i] == 128 + i);
  CHECK(used(*states) == 3);
  // What is replayed goes into pages and a state of its own.
  const auto again = shorter.fork(135);
  CHECK(append(shorter, 2) == 0);
  CHECK(shorter.length() == 142);
  CHECK(shorter.computed() == 142);
  CHECK(used(*states) == 4);
  CHECK(shorter.states()[2] != cache.states()[2]);
  CHECK(shorter.pages()[8] != cache.pages()[8]);
  CHECK(shorter.pages()[7] == cache.pages()[7]);
  // A fork of a fork that has not replayed yet.
  auto& third = dynamic_cast<PagedCache&>(*again);
  CHECK(third.computed() == 128);
  CHECK(third.to_replay().size() == 7);
  CHECK(third.to_replay()[6] == 134);
  CHECK(dynamic_cast<PagedCache&>(*third.fork(100)).computed() == 64);
  // In a fork of all tokens everything is shared until one of the two goes on, in a copy of page
  // and state.
  const auto whole = cache.fork(150);
  auto& equal = dynamic_cast<PagedCache&>(*whole);
  CHECK(equal.to_replay().empty());
  CHECK(equal.states()[2] == cache.states()[2]);
  CHECK(append(equal, 1) == 2);
  CHECK(append(cache, 1) == 0);
  // At a checkpoint there is nothing to replay and nothing to copy.
  const auto exact = cache.fork(128);
  auto& checkpoint = dynamic_cast<PagedCache&>(*exact);
  CHECK(checkpoint.to_replay().empty());
  CHECK(append(checkpoint, 1) == 0);
  CHECK(checkpoint.states().size() == 3);
  CHECK(checkpoint.states()[1] == cache.states()[1]);
  CHECK_THROWS_AS(cache.fork(152), Bug);
}

TEST_CASE("a cache is cut back to whole pages that others hold, and each page counts once",
          "[cache]") {
  const auto pool = std::make_shared<PagePool>(small);
  const std::size_t page = pool->page_bytes();
  const auto account = std::make_shared<CacheAccount>();
  const auto held_is = [&](std::size_t pages) {
    CHECK(used(*pool) == pages);
    CHECK(account->held() == pages * page);
  };
  PagedCache prompt(pool);
  prompt.count_in(account);
  extend(prompt, 20, 0);
  held_is(2);
  const auto record = prompt.fork(20);
  auto& x = dynamic_cast<PagedCache&>(*record);
  CHECK(x.bytes_to_reach(20) == 0);
  CHECK(x.bytes_to_reach(21) == page);
  CHECK(x.bytes_to_reach(100) == 6 * page);
  extend(x, 100, 1);
  held_is(8);
  // The proposal shares three pages, and copies the last of them when it grows.
  const auto proposal = x.fork(40);
  auto& y = dynamic_cast<PagedCache&>(*proposal);
  held_is(8);
  CHECK(y.bytes_to_reach(41) == page);
  extend(y, 41, 1);
  held_is(9);
  const auto number = x.number();
  x.drop_unshared();
  CHECK(x.length() == 32);
  CHECK(x.number() != number);
  held_is(4);
  x.drop_unshared();
  CHECK(x.length() == 32);
  // It gives back no page that its proposal holds.
  x.drop_own();
  CHECK(x.length() == 16);
  CHECK(x.pages().size() == 1);
  held_is(4);
  y.drop_own();
  CHECK(y.length() == 16);
  held_is(2);
  prompt.drop_own();
  CHECK(prompt.length() == 20);
  extend(x, 33, 0);
  held_is(4);
  CHECK(account->most_held() == 9 * page);
  // Pages that were taken for tokens which were not computed are given back too.
  std::vector<PagedCache::PageCopy> copies;
  x.reserve(80, copies);
  held_is(6);
  x.drop_unshared();
  CHECK(x.length() == 16);
  held_is(2);
}

TEST_CASE("a cache with states is cut back to a checkpoint", "[cache][recurrent]") {
  const auto pool = std::make_shared<PagePool>(small);
  const auto states = std::make_shared<PagePool>(ArraysLayout{1, 16, 0}, std::size_t{1});
  const auto account = std::make_shared<CacheAccount>();
  const auto append = [](PagedCache& cache, std::size_t tokens) {
    const std::vector<TokenId> replayed(cache.to_replay().begin(), cache.to_replay().end());
    std::vector<TokenId> text = replayed;
    text.resize(text.size() + tokens, 3);
    std::vector<PagedCache::PageCopy> copies;
    const std::size_t before = cache.bytes_to_reach(cache.length() + tokens);
    cache.reserve(cache.length() + tokens, copies);
    cache.reserve_states(cache.length() + tokens, copies);
    cache.hold(text);
    return before;
  };
  const auto held_is = [&](std::size_t pages, std::size_t its_states) {
    CHECK(used(*pool) == pages);
    CHECK(used(*states) == its_states);
    CHECK(account->held() == pages * pool->page_bytes() + its_states * states->page_bytes());
  };
  PagedCache prompt(pool, states);
  prompt.count_in(account);
  append(prompt, 70);
  held_is(5, 2);
  const auto record = prompt.fork(70);
  auto& x = dynamic_cast<PagedCache&>(*record);
  // Five pages to 150 tokens, a copy of the prompt's last and of its last state, and one more.
  CHECK(append(x, 80) == 6 * pool->page_bytes() + 2 * states->page_bytes());
  held_is(11, 4);
  const auto proposal = x.fork(140);
  auto& y = dynamic_cast<PagedCache&>(*proposal);
  append(y, 1);
  held_is(12, 5);
  x.drop_unshared();
  CHECK(x.length() == 128);
  CHECK(x.computed() == 128);
  CHECK(x.to_replay().empty());
  held_is(10, 4);
  y.drop_own();
  CHECK(y.length() == 64);
  x.drop_own();
  CHECK(x.length() == 64);
  held_is(5, 2);
  CHECK(append(x, 30) == 2 * pool->page_bytes() + states->page_bytes());
  held_is(7, 3);
}

}  // namespace tempera::gpu
