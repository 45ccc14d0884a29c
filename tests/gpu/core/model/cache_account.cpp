// Caches and the order in which they are cut back, compared with sets of tokens and a walk over all
// of them.
#include "gpu/core/model/cache_account.hpp"

#include <map>
#include <set>

#include "gpu/core/model/accounted_model.hpp"
#include "tests/between.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/counted_model.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::cache_account_test {
namespace {

constexpr std::size_t token_bytes = 10;

/// The caches of one account once more: of each the tokens that it holds, by numbers of their own.
struct Naive {
  struct Entry {
    std::size_t name = 0;
    std::vector<std::size_t> tokens;
    std::size_t whole = 0;
    bool is_fork = false;
    std::size_t cut = 0;  // since it was used: when it gave back what no other holds, from 1 on
    bool is_waited = false;
  };
  std::vector<Entry> caches;  // the longest idle first
  std::size_t next_token = 0;
  std::size_t cuts = 0;

  Entry& of(std::size_t name) {
    return *std::find_if(caches.begin(), caches.end(),
                         [&](const Entry& entry) { return entry.name == name; });
  }
  void use(std::size_t name) {
    Entry used = of(name);
    used.cut = 0;
    used.is_waited = false;
    std::erase_if(caches, [&](const Entry& entry) { return entry.name == name; });
    caches.push_back(used);
  }
  std::size_t bytes() const {
    std::set<std::size_t> all;
    for (const Entry& entry : caches) all.insert(entry.tokens.begin(), entry.tokens.end());
    return token_bytes * all.size();
  }
  bool has_another(const Entry& own, std::size_t token) const {
    return std::any_of(caches.begin(), caches.end(), [&](const Entry& entry) {
      return &entry != &own &&
             std::find(entry.tokens.begin(), entry.tokens.end(), token) != entry.tokens.end();
    });
  }
  void cut(Entry& entry, bool is_all) const {
    while (entry.tokens.size() > entry.whole &&
           (is_all || !has_another(entry, entry.tokens.back())))
      entry.tokens.pop_back();
  }
  /// The walk over all: idle ones once by their suffixes, then whole in the order of that, then
  /// those that are waited for, in the order in which they came to be.
  void make_room(std::size_t limit, std::size_t bytes_wanted, const std::set<std::size_t>& spared,
                 bool is_of_idle) {
    const auto walk = [&](const auto& is_meant, const auto& earlier, bool is_all) {
      std::vector<Entry*> meant;
      for (Entry& entry : caches)
        if (entry.is_fork && !spared.contains(entry.name) && is_meant(entry))
          meant.push_back(&entry);
      std::stable_sort(meant.begin(), meant.end(), earlier);
      for (Entry* entry : meant) {
        if (bytes() + bytes_wanted <= limit) return;
        cut(*entry, is_all);
        if (!is_all) entry->cut = ++cuts;
      }
    };
    const auto as_they_are = [](const Entry*, const Entry*) { return false; };
    walk([](const Entry& entry) { return !entry.is_waited && entry.cut == 0; }, as_they_are, false);
    walk([](const Entry& entry) { return !entry.is_waited && entry.cut > 0; },
         [](const Entry* a, const Entry* b) { return a->cut < b->cut; }, true);
    if (is_of_idle) return;
    walk([](const Entry& entry) { return entry.is_waited; },
         [this](const Entry* a, const Entry* b) { return order(*a) < order(*b); }, true);
  }
  std::size_t order(const Entry& entry) const { return waited.at(entry.name); }
  std::map<std::size_t, std::size_t> waited;  // by name: when it came to be waited for
};

}  // namespace

TEST_CASE("the longest idle is cut back first, to what others hold and then to the prompt") {
  law("an account is a walk over all caches", [] {
    CountedModel table(token_bytes);
    const std::size_t limit = token_bytes * *rc::gen::inRange<std::size_t>(1, 25);
    const auto account = std::make_shared<CacheAccount>(CacheBudget{limit, true});
    AccountedModel model(table, account);
    Naive naive;
    std::map<std::size_t, std::unique_ptr<Cache>> caches;
    std::size_t most = 0;
    std::size_t cuts = 0;
    const auto extend = [&](std::size_t name, std::size_t tokens) {
      DeviceMemory<float> rows;
      const std::vector<TokenId> text(tokens, 3);
      const Pass pass{caches.at(name).get(), text};
      table.next_logits(std::span(&pass, 1), rows);
      naive.use(name);
      for (std::size_t i = 0; i < tokens; ++i) naive.of(name).tokens.push_back(naive.next_token++);
    };
    const std::size_t prompts = *rc::gen::inRange<std::size_t>(1, 3);
    for (std::size_t name = 0; name < prompts; ++name) {
      caches[name] = model.empty_cache();
      naive.caches.push_back({name, {}, 0, false});
      extend(name, *rc::gen::inRange<std::size_t>(0, 9));
    }
    for (std::size_t name = prompts; name < 60; ++name) {
      auto any = caches.begin();
      std::advance(any, between<std::size_t>(0, caches.size() - 1));
      const std::size_t source = any->first;
      switch (between(0, 5)) {
        case 0:
        case 1: {
          const std::size_t length = *rc::gen::inRange<std::size_t>(0, any->second->length() + 1);
          caches[name] = any->second->fork(length);
          naive.use(source);
          const Naive::Entry& from = naive.of(source);
          naive.caches.push_back(
              {name,
               {from.tokens.begin(), from.tokens.begin() + static_cast<std::ptrdiff_t>(length)},
               from.is_fork ? std::min(from.whole, length) : length,
               true});
          break;
        }
        case 2:
          if (source >= prompts) extend(source, *rc::gen::inRange<std::size_t>(0, 7));
          break;
        case 3:
          if (source < prompts) break;
          caches.erase(source);
          std::erase_if(naive.caches, [&](const auto& entry) { return entry.name == source; });
          break;
        case 4:
          // One that has nothing to give back is not looked at, whether it is waited for or not.
          if (!any->second->holds_own()) break;
          any->second->begin_wait();
          if (naive.of(source).tokens.size() == naive.of(source).whole) {
            RC_ASSERT(!any->second->holds_own());
            break;
          }
          naive.of(source).is_waited = true;
          naive.waited[source] = name;
          break;
        default: {
          const bool is_of_idle = *rc::gen::arbitrary<bool>();
          const std::size_t wanted = token_bytes * *rc::gen::inRange<std::size_t>(0, 20);
          const std::set<std::size_t> spared{source};
          const std::size_t before = naive.bytes();
          naive.make_room(limit, wanted, spared, is_of_idle);
          cuts += naive.bytes() < before ? 1 : 0;
          const Cache* const own = caches.at(source).get();
          const auto is_spared = [&](const Cache& cache) { return &cache == own; };
          const bool has_room = is_of_idle ? account->make_room_of_idle(wanted, is_spared)
                                           : account->make_room(wanted, is_spared);
          RC_ASSERT(has_room == (naive.bytes() + wanted <= limit));
        }
      }
      most = std::max(most, naive.bytes());
      RC_ASSERT(account->held() == naive.bytes());
      RC_ASSERT(table.held() == naive.bytes());
      for (const auto& [number, cache] : caches) {
        const Naive::Entry& entry = naive.of(number);
        RC_ASSERT(cache->length() == entry.tokens.size());
        if (entry.is_fork && entry.tokens.size() > entry.whole) RC_ASSERT(cache->holds_own());
      }
    }
    RC_ASSERT(account->most_held() == most);
    RC_CLASSIFY(cuts > 0, "caches were cut back");
    caches.clear();
    RC_ASSERT(account->held() == 0U);
  });
}

TEST_CASE("an account ends where the memory of the device does") {
  CacheAccount none;
  CHECK(none.has_room(std::numeric_limits<std::size_t>::max()));
  none.end_at_held();
  CHECK_FALSE(none.has_room(2));
  CHECK_FALSE(none.budget().is_given);
  CountedModel table(token_bytes);
  CacheAccount small({5, true});
  small.end_at_held();
  CHECK(small.budget().bytes == 1);
  CHECK_FALSE(small.budget().is_given);
}

TEST_CASE("a cache is counted from its beginning on") {
  const auto account = std::make_shared<CacheAccount>();
  const auto cache = CountedModel().empty_cache();
  cache->count_in(account);
  CHECK_THROWS_AS(cache->count_in(account), Bug);
}

}  // namespace tempera::gpu::cache_account_test
