#include "gpu/transformer/cache/slot_tables.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "gpu/model/table_model.hpp"
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
      tables.hold(placed[i], pages[records[i]], entries);
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
  tables.hold(0, pages, entries);
  REQUIRE(entries == std::vector<PageEntry>{{0, 0, 7}, {0, 1, 8}, {0, 2, 9}});
  entries.clear();
  tables.hold(0, pages, entries);
  REQUIRE(entries.empty());
  const std::vector<std::uint32_t> copied = {7, 5};
  tables.hold(0, copied, entries);
  tables.hold(1, copied, entries);
  REQUIRE(entries == std::vector<PageEntry>{{0, 1, 5}, {1, 0, 7}, {1, 1, 5}});
}
