// Who gives way to whom, compared with a walk over a plain list of all.
#include "gpu/core/engine/memory_order.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "tests/between.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::memory_order_test {
namespace {

struct Waiter {
  MemoryOrder<Waiter>::Place place;
  bool waits = true, holds = false;
};

bool is_ahead(const Waiter& waiter) { return std::get<0>(waiter.place.rank); }
bool is_later(const Waiter& a, const Waiter& b) { return b.place.rank < a.place.rank; }

/// Whoever may be asked to give way to `asks`, by the rule in words.
std::set<const Waiter*> may_give_way(const std::list<Waiter>& all, const Waiter& asks) {
  std::map<std::uint64_t, std::size_t> of_client;
  std::map<Share, std::size_t> of_share;
  const Waiter* first = nullptr;
  for (const Waiter& each : all) {
    if (each.holds || &each == &asks) {
      ++of_client[each.place.share.client];
      ++of_share[each.place.share];
    }
    if (each.waits && (first == nullptr || is_later(*first, each))) first = &each;
  }
  std::set<const Waiter*> found;
  for (const Waiter& each : all) {
    if (!each.holds || &each == &asks) continue;
    // Nobody who is needed gives way to one that is not.
    if (is_ahead(each) != is_ahead(asks)) {
      if (is_ahead(each)) found.insert(&each);
      continue;
    }
    // Nobody gives way while another of its request has less of a claim.
    const bool is_last = std::none_of(all.begin(), all.end(), [&](const Waiter& other) {
      return other.holds && other.place.share == each.place.share && is_later(other, each);
    });
    if (!is_last && each.place.share != asks.place.share) continue;
    const Share& share = each.place.share;
    const Share& own = asks.place.share;
    const bool gives = share == own     ? is_later(each, asks)
                       : &asks == first ? true
                       : share.client == own.client
                           ? of_share[share] > of_share[own]
                           : of_client[share.client] > of_client[own.client];
    if (gives) found.insert(&each);
  }
  if (is_ahead(asks) ||
      std::none_of(found.begin(), found.end(), [](const Waiter* each) { return is_ahead(*each); }))
    return found;
  std::erase_if(found, [](const Waiter* each) { return !is_ahead(*each); });
  return found;
}

}  // namespace

TEST_CASE("memory is dealt to clients and requests in equal numbers, the oldest of all first") {
  law("an order whose waiters come, hold, give back and leave", [] {
    MemoryOrder<Waiter> order;
    std::list<Waiter> all;
    const std::size_t operations = *rc::gen::inRange<std::size_t>(1, 500);
    std::size_t asked = 0;
    for (std::size_t i = 0; i < operations; ++i) {
      auto any = all.begin();
      if (!all.empty()) std::advance(any, between<std::size_t>(0, all.size() - 1));
      switch (all.empty() ? 0 : between(0, 7)) {
        case 0:
        case 1:
        case 2: {
          Waiter& came = all.emplace_back();
          came.place = {{between<std::uint64_t>(0, 2), between<std::uint64_t>(0, 2)},
                        {between(0, 4) == 0, between<std::uint64_t>(0, 8), i}};
          came.holds = *rc::gen::arbitrary<bool>();
          order.join(came.place, &came, came.holds);
          break;
        }
        case 3:
          if (!any->waits) break;
          order.take(any->place);
          any->waits = false;
          any->holds = true;
          break;
        case 4:
          if (!any->waits) break;
          order.let_go(any->place);
          any->holds = false;
          break;
        case 5:
          order.leave(any->place);
          order.leave(any->place);
          all.erase(any);
          break;
        default: {
          Waiter* first = nullptr;
          for (Waiter& each : all)
            if (each.waits && (first == nullptr || is_later(*first, each))) first = &each;
          RC_ASSERT(order.first() == first);
          if (!any->waits) break;
          Waiter* first_of_share = nullptr;
          for (Waiter& each : all)
            if (each.waits && each.place.share == any->place.share &&
                (first_of_share == nullptr || is_later(*first_of_share, each)))
              first_of_share = &each;
          RC_ASSERT(order.first(any->place.share) == first_of_share);
          if (any != all.end() && &*any != first_of_share) break;
          const auto may = may_give_way(all, *any);
          const Waiter* gives = order.gives_way_to(any->place, &*any == first);
          if (!is_ahead(*any)) RC_ASSERT((gives == nullptr) == may.empty());
          RC_ASSERT(gives == nullptr || may.contains(gives));
          // Nobody asks the first of all to give way, unless one that is earlier was taken.
          const bool is_all_later = std::none_of(
              all.begin(), all.end(), [&](const Waiter& each) { return is_later(*first, each); });
          RC_ASSERT(!is_all_later || gives != first);
          ++asked;
        }
      }
    }
    RC_CLASSIFY(asked > 5, "many asked");
  });
}

}  // namespace tempera::gpu::memory_order_test
