#include "gpu/llm/transformer/cache/shared_splits.hpp"

#include <algorithm>
#include <memory>
#include <random>

#include "gpu/llm/transformer/cache/paged_cache.hpp"
#include "tests/catch.hpp"

namespace tempera::shared_splits_test {

using namespace tempera::gpu;

namespace {

using Pages = std::vector<std::uint32_t>;

/// Pages of so many whole splits and one more, counted from `first`.
Pages pages_from(std::uint32_t first, std::size_t splits) {
  Pages pages(splits * split_pages + 1);
  for (std::size_t i = 0; i < pages.size(); ++i) pages[i] = first + static_cast<std::uint32_t>(i);
  return pages;
}

/// How many leading splits two lists share, page by page.
std::size_t shared_by(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  if (a.empty() || b.empty()) return 0;
  const std::size_t most = std::min(a.size(), b.size()) - 1;
  std::size_t same = 0;
  while (same < most && a[same] == b[same]) ++same;
  return same / split_pages;
}

/// Every slot is there once, what a place says is so, and no order has more to share.
void require_right(std::span<const SharedSplits::Place> order, const std::vector<Pages>& held) {
  REQUIRE(order.size() == held.size());
  std::vector<bool> seen(held.size());
  std::size_t sum = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    REQUIRE_FALSE(seen[order[i].slot]);
    seen[order[i].slot] = true;
    const std::size_t shared = i == 0 ? 0 : shared_by(held[order[i - 1].slot], held[order[i].slot]);
    REQUIRE(order[i].splits == shared);
    sum += shared;
  }
  // The most that can be shared: of each split, all rows but the first that has it.
  std::size_t most = 0;
  for (std::size_t slot = 0; slot < held.size(); ++slot) {
    std::size_t before = 0;
    for (std::size_t other = 0; other < slot; ++other)
      before = std::max(before, shared_by(held[slot], held[other]));
    most += before;
  }
  REQUIRE(sum == most);
}

}  // namespace

TEST_CASE("slots share the whole splits below the page of their last token, and no page more") {
  SharedSplits shared;
  using Places = std::vector<SharedSplits::Place>;
  const auto order = [&](std::size_t slots) {
    const auto places = shared.order(slots);
    return Places(places.begin(), places.end());
  };
  REQUIRE(order(3) == Places{{0, 0}, {1, 0}, {2, 0}});
  REQUIRE_FALSE(shared.is_half_shared(3));
  Pages pages = pages_from(100, 2);
  shared.hold(0, {1, pages});
  shared.hold(2, {2, pages});
  REQUIRE(order(3) == Places{{0, 0}, {2, 2}, {1, 0}});
  REQUIRE(shared.is_half_shared(3));
  REQUIRE_FALSE(shared.is_half_shared(2));  // slot 2 is not among these
  // The last page of a list is written, so its split is no whole one.
  shared.hold(2, {3, std::span(pages).first(2 * split_pages)});
  REQUIRE(order(3) == Places{{2, 0}, {0, 1}, {1, 0}});
  // One page of a split that differs.
  pages[split_pages - 1] = 7;
  shared.hold(2, {4, pages});
  REQUIRE_FALSE(shared.is_half_shared(3));
  shared.hold(0, {5, pages});
  REQUIRE(shared.is_half_shared(3));
  shared.hold(0, {0, {}});
  REQUIRE_FALSE(shared.is_half_shared(3));
  shared.hold(0, {5, pages});
  shared.forget();
  REQUIRE_FALSE(shared.is_half_shared(3));
}

TEST_CASE("the same pages after another page are not a shared split") {
  SharedSplits shared;
  Pages pages = pages_from(0, 3);
  shared.hold(0, {1, pages});
  pages[3] = 999;
  shared.hold(1, {2, pages});
  REQUIRE_FALSE(shared.is_half_shared(2));
  shared.hold(2, {3, pages});
  std::vector<Pages> held = {pages_from(0, 3), pages, pages};
  require_right(shared.order(3), held);
}

TEST_CASE("what slots share is what their pages say, as records grow, fork and give up slots") {
  std::mt19937 random(11);
  const auto pool = std::make_shared<PagePool>(ArraysLayout{1, 16, 0});
  std::vector<std::unique_ptr<PagedCache>> caches;
  std::vector<PagedCache::PageCopy> copies;
  const auto grow = [&](PagedCache& cache, std::size_t tokens) {
    cache.reserve(cache.length() + tokens, copies);
    cache.hold(tokens);
  };
  for (std::size_t i = 0; i < 10; ++i) {
    caches.push_back(std::make_unique<PagedCache>(pool));
    grow(*caches.back(), 1 + random() % 2000);
  }
  SharedSplits shared;
  std::size_t steps_of_the_same = 0;
  std::size_t steps_that_share = 0;
  std::size_t steps_that_share_half = 0;
  for (int step = 0; step < 1500; ++step) {
    if (step == 700) shared.forget();
    bool same = step != 700;
    if (random() % 8 == 0) {
      same = false;
      const std::size_t from = random() % caches.size();
      const std::size_t to = random() % caches.size();
      auto fork = caches[from]->fork(1 + random() % caches[from]->length());
      caches[to].reset();
      caches[to].reset(static_cast<PagedCache*>(fork.release()));
    }
    if (random() % 16 == 0) {
      same = false;
      std::swap(caches[random() % caches.size()], caches[random() % caches.size()]);
    }
    const std::uint64_t compared = shared.compared();
    std::vector<Pages> held(caches.size());
    std::size_t finished = 0;
    for (std::uint32_t slot = 0; slot < caches.size(); ++slot) {
      PagedCache& cache = *caches[slot];
      if (step % 32 > 28 && slot % 3 == 0) {  // nobody's for a while
        shared.hold(slot, {0, {}});
        same = false;
        continue;
      }
      if (step % 32 == 0) same = false;
      if (cache.length() > 0 && cache.length() % 256 == 0) ++finished;
      cache.reserve(cache.length() + 1, copies);
      const auto pages = cache.pages().first(cache.length() / page_tokens + 1);
      shared.hold(slot, {cache.number(), pages});
      held[slot].assign(pages.begin(), pages.end());
      cache.hold(1);
    }
    require_right(shared.order(caches.size()), held);
    std::size_t shared_splits = 0;
    std::size_t all_splits = 0;
    for (const auto& place : shared.order(caches.size())) shared_splits += place.splits;
    for (const Pages& pages : held)
      all_splits += pages.empty() ? 0 : (pages.size() - 1) / split_pages;
    const bool is_half = shared_splits > 0 && shared_splits * 2 >= all_splits;
    REQUIRE(shared.is_half_shared(caches.size()) == is_half);
    steps_that_share += shared_splits > 0 ? 1 : 0;
    steps_that_share_half += is_half ? 1 : 0;
    if (!same) continue;
    // Nothing, however long the texts, but where a record has come to the end of a split.
    REQUIRE(shared.compared() - compared <= finished * (caches.size() - 1));
    ++steps_of_the_same;
  }
  REQUIRE(steps_of_the_same > 500);
  REQUIRE(steps_that_share > 200);
  REQUIRE(steps_that_share_half > 50);
  REQUIRE(steps_that_share_half < steps_that_share);
}

}  // namespace tempera::shared_splits_test
