// What caches hold, and which of them are cut back, held against sets of tokens and a walk over all
// of them.
#include "gpu/core/model/cache_account.hpp"

#include <set>

#include "gpu/core/model/accounted_model.hpp"
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
  };
  std::vector<Entry> caches;  // the longest idle first
  std::size_t next_token = 0;

  Entry& of(std::size_t name) {
    return *std::find_if(caches.begin(), caches.end(),
                         [&](const Entry& entry) { return entry.name == name; });
  }
  void use(std::size_t name) {
    const Entry used = of(name);
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
  void make_room(std::size_t limit, std::size_t bytes_wanted, const std::set<std::size_t>& spared) {
    for (const bool is_all : {false, true})
      for (Entry& entry : caches) {
        if (!entry.is_fork || spared.contains(entry.name)) continue;
        if (bytes() + bytes_wanted <= limit) return;
        while (entry.tokens.size() > entry.whole &&
               (is_all || !has_another(entry, entry.tokens.back())))
          entry.tokens.pop_back();
      }
  }
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
      std::advance(any, *rc::gen::inRange<std::size_t>(0, caches.size()));
      const std::size_t source = any->first;
      switch (*rc::gen::inRange(0, 5)) {
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
        default: {
          const std::size_t wanted = token_bytes * *rc::gen::inRange<std::size_t>(0, 20);
          const std::set<std::size_t> spared{source};
          const std::size_t before = naive.bytes();
          naive.make_room(limit, wanted, spared);
          cuts += naive.bytes() < before ? 1 : 0;
          const Cache* const own = caches.at(source).get();
          const bool has_room =
              account->make_room(wanted, [&](const Cache& cache) { return &cache == own; });
          RC_ASSERT(has_room == (naive.bytes() + wanted <= limit));
        }
      }
      most = std::max(most, naive.bytes());
      RC_ASSERT(account->held() == naive.bytes());
      RC_ASSERT(table.held() == naive.bytes());
      for (const auto& [number, cache] : caches)
        RC_ASSERT(cache->length() == naive.of(number).tokens.size());
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
