#include "gpu/llm/transformer/cache/slot_tables.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "gpu/core/model/table_model.hpp"
#include "gpu/llm/transformer/cache/paged_cache.hpp"
#include "tests/catch.hpp"

using namespace tempera::gpu;

TEST_CASE("entries that are sent make the device's tables those of the records, and none twice") {
  std::mt19937 random(4);
  std::vector<TokenCache> caches(20);
  std::map<const Cache*, std::vector<std::uint32_t>> pages;
  for (const TokenCache& cache : caches) pages[&cache] = {static_cast<std::uint32_t>(random() % 9)};
  SlotTables tables;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> device;
  for (int step = 0; step < 200; ++step) {
    if (step == 100) {
      tables.forget();
      device.clear();
    }
    std::vector<const Cache*> records;
    for (const TokenCache& cache : caches) records.push_back(&cache);
    std::shuffle(records.begin(), records.end(), random);
    records.resize(1 + random() % 12);
    for (const Cache* record : records) {
      auto& own = pages[record];
      if (random() % 4 == 0) own.push_back(static_cast<std::uint32_t>(random() % 9));
      if (random() % 4 == 0) own[random() % own.size()] = static_cast<std::uint32_t>(random() % 9);
      if (random() % 4 == 0 && own.size() > 1) own.pop_back();
    }
    const std::size_t slots = records.size() + random() % 3;
    const auto placed = tables.assign(records, slots);
    std::vector<bool> taken(slots);
    for (std::size_t i = 0; i < records.size(); ++i) {
      REQUIRE(placed[i] < slots);
      REQUIRE_FALSE(taken[placed[i]]);
      taken[placed[i]] = true;
      std::vector<PageEntry> entries;
      tables.hold(placed[i], {0, pages[records[i]]}, entries);
      for (const PageEntry& entry : entries) {
        REQUIRE(entry.slot == placed[i]);
        const auto key = std::pair(entry.slot, entry.index);
        REQUIRE((device.count(key) == 0 || device[key] != entry.page));  // it was needed
        device[key] = entry.page;
      }
      for (std::uint32_t index = 0; index < pages[records[i]].size(); ++index)
        REQUIRE(device[std::pair(placed[i], index)] == pages[records[i]][index]);
    }
  }
}

TEST_CASE("a record keeps its slot while the step has one, and what has not changed is not sent") {
  const std::vector<TokenCache> caches(5);
  SlotTables tables;
  const auto assign = [&](std::vector<std::size_t> chosen, std::size_t slots) {
    std::vector<const Cache*> records;
    for (const std::size_t i : chosen) records.push_back(&caches[i]);
    return tables.assign(records, slots);
  };
  using Slots = std::vector<std::uint32_t>;
  REQUIRE(assign({0, 1, 2}, 4) == Slots{0, 1, 2});
  REQUIRE(assign({2, 3, 0}, 4) == Slots{2, 1, 0});
  REQUIRE(assign({3, 2}, 2) == Slots{1, 0});  // slot 2 is gone
  REQUIRE(assign({4, 3}, 4) == Slots{0, 1});
  std::vector<PageEntry> entries;
  const std::vector<std::uint32_t> pages = {7, 8, 9};
  tables.hold(0, {0, pages}, entries);
  REQUIRE(entries == std::vector<PageEntry>{{0, 0, 7}, {0, 1, 8}, {0, 2, 9}});
  entries.clear();
  tables.hold(0, {0, pages}, entries);
  REQUIRE(entries.empty());
  const std::vector<std::uint32_t> copied = {7, 5};
  tables.hold(0, {0, copied}, entries);
  tables.hold(1, {0, copied}, entries);
  REQUIRE(entries == std::vector<PageEntry>{{0, 1, 5}, {1, 0, 7}, {1, 1, 5}});
}

TEST_CASE("a step looks at two pages of a record at most, however long its text") {
  // Real caches over a real pool, that grow, are forked, and give up their slots; the device's
  // tables must be theirs all the same.
  std::mt19937 random(9);
  const auto pool = std::make_shared<PagePool>(ArraysLayout{1, 16, 0});
  std::vector<std::unique_ptr<PagedCache>> caches;
  std::vector<PagedCache::PageCopy> copies;
  const auto grow = [&](PagedCache& cache, std::size_t tokens) {
    cache.reserve(cache.length() + tokens, copies);
    cache.hold(tokens);
  };
  for (std::size_t i = 0; i < 12; ++i) {
    caches.push_back(std::make_unique<PagedCache>(pool));
    grow(*caches.back(), 1 + random() % 4000);
  }
  SlotTables tables;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> device;
  std::size_t steps_counted = 0;
  std::vector<std::uint64_t> before;
  for (int step = 0; step < 400; ++step) {
    // Most steps go on with the same records; some fork one in the place of another, or leave some
    // out. A fork may be shorter, and takes the place of a dead cache in memory.
    bool same = true;
    if (random() % 8 == 0) {
      const std::size_t from = random() % caches.size();
      const std::size_t to = random() % caches.size();
      const std::size_t length = 1 + random() % caches[from]->length();
      auto fork = caches[from]->fork(length);
      caches[to].reset();
      caches[to].reset(static_cast<PagedCache*>(fork.release()));
      same = false;
    }
    std::vector<const Cache*> records;
    std::vector<PagedCache*> chosen;
    for (const auto& cache : caches) {
      if (step % 16 == 15 && random() % 2 == 0) continue;
      chosen.push_back(cache.get());
      records.push_back(cache.get());
      cache->reserve(cache->length() + 1, copies);
    }
    const auto placed = tables.assign(records, caches.size());
    const std::uint64_t compared = tables.compared();
    std::vector<std::uint64_t> numbers(caches.size(), 0);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      std::vector<PageEntry> entries;
      const auto pages = chosen[i]->pages().first(chosen[i]->length() / page_tokens + 1);
      tables.hold(placed[i], {chosen[i]->number(), pages}, entries);
      numbers[placed[i]] = chosen[i]->number();
      for (const PageEntry& entry : entries) device[{entry.slot, entry.index}] = entry.page;
      bool equal = true;
      for (std::uint32_t index = 0; index < pages.size(); ++index)
        equal = equal && device[std::pair(placed[i], index)] == pages[index];
      REQUIRE(equal);
    }
    if (same && numbers == before) {
      REQUIRE(tables.compared() - compared <= 2 * chosen.size());
      ++steps_counted;
    }
    before = numbers;
    for (PagedCache* cache : chosen) cache->hold(1);
  }
  REQUIRE(steps_counted > 200);
}
