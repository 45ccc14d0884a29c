// The rows of a batch are dealt to clients in turn, and of each client to its requests.
#include "gpu/core/engine/fair_queue.hpp"

#include <algorithm>
#include <vector>

#include "tests/between.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::fair_queue_test {
namespace {

struct Waiter {
  std::size_t number = 0;
  Share share;
  FairQueue<Waiter>::Place place = {};
};

/// Who waits, in the order in which they came, and who of each kind was served last.
struct Naive {
  std::vector<Waiter*> waiting;

  std::vector<std::uint64_t> clients() const {
    std::vector<std::uint64_t> all;
    for (const Waiter* waiter : waiting) all.push_back(waiter->share.client);
    return all;
  }
};

template <class List, class Value>
bool has(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

TEST_CASE("no client is served twice while another one waits all the time, and so its requests") {
  law("a queue whose waiters come, leave and are served", [] {
    FairQueue<Waiter> queue;
    std::list<Waiter> made;
    Naive naive;
    // Since a client, or a request, was served, which others have been served.
    struct Served {
      Share share;
      std::vector<std::uint64_t> clients_then, clients_since;
      std::vector<Share> shares_then, shares_since;
    };
    std::vector<Served> served;
    const auto shares = [&] {
      std::vector<Share> all;
      for (const Waiter* waiter : naive.waiting) all.push_back(waiter->share);
      return all;
    };
    const auto end_wait = [&] {  // of clients and requests of which nobody waits any more
      for (Served& each : served) {
        const auto here = naive.clients();
        std::erase_if(each.clients_then, [&](auto client) { return !has(here, client); });
        const auto of_them = shares();
        std::erase_if(each.shares_then, [&](auto share) { return !has(of_them, share); });
      }
    };
    const std::size_t operations = *rc::gen::inRange<std::size_t>(1, 120);
    for (std::size_t i = 0; i < operations; ++i) {
      const auto what = between(0, 7);
      if (what == 7) {
        // Set aside, some have no turn; their places stay good, and they wait on.
        std::vector<Share> aside;
        for (std::uint64_t client = 0; client < 4; ++client)
          if (*rc::gen::arbitrary<bool>()) aside.push_back({client, between<std::uint64_t>(0, 2)});
        for (const Share& share : aside) queue.set_aside(share);
        const auto in_turn =
            std::count_if(naive.waiting.begin(), naive.waiting.end(),
                          [&](const Waiter* waiter) { return !has(aside, waiter->share); });
        RC_ASSERT(queue.size() == static_cast<std::size_t>(in_turn));
        for (std::ptrdiff_t turn = 0; turn < in_turn; ++turn)
          RC_ASSERT(!has(aside, queue.next_share()));
        queue.bring_back();
        served.clear();
      } else if (what < 4 || naive.waiting.empty()) {
        Waiter& waiter = made.emplace_back(
            Waiter{i, {between<std::uint64_t>(0, 3), between<std::uint64_t>(0, 2)}});
        waiter.place = queue.push(waiter.share, &waiter);
        naive.waiting.push_back(&waiter);
      } else if (what == 4) {
        const auto at = between<std::size_t>(0, naive.waiting.size() - 1);
        queue.leave(naive.waiting[at]->place);
        naive.waiting.erase(naive.waiting.begin() + static_cast<std::ptrdiff_t>(at));
        end_wait();
      } else {
        const bool last_come = *rc::gen::arbitrary<bool>();
        Waiter* const taken = queue.take(last_come);
        RC_ASSERT(has(naive.waiting, taken));
        // Of its own request it is the first, or the last, that came.
        std::vector<Waiter*> own;
        for (Waiter* waiter : naive.waiting)
          if (waiter->share == taken->share) own.push_back(waiter);
        RC_ASSERT(taken == (last_come ? own.back() : own.front()));
        for (const Served& before : served) {
          if (before.share.client == taken->share.client)
            for (const auto client : before.clients_then)
              RC_ASSERT(has(before.clients_since, client));
          if (before.share == taken->share)
            for (const Share& share : before.shares_then)
              if (share.client == taken->share.client) RC_ASSERT(has(before.shares_since, share));
        }
        std::erase_if(served, [&](const Served& before) { return before.share == taken->share; });
        for (Served& before : served) {
          before.clients_since.push_back(taken->share.client);
          before.shares_since.push_back(taken->share);
          if (before.share.client == taken->share.client) before.clients_then.clear();
        }
        std::erase(naive.waiting, taken);
        Served& now = served.emplace_back(Served{taken->share, naive.clients(), {}, shares(), {}});
        std::erase(now.clients_then, taken->share.client);
        std::erase(now.shares_then, taken->share);
        end_wait();
      }
      RC_ASSERT(queue.size() == naive.waiting.size());
      RC_ASSERT(queue.empty() == naive.waiting.empty());
      std::vector<Waiter*> seen;
      queue.for_each([&](Waiter* waiter) { seen.push_back(waiter); });
      RC_ASSERT(std::is_permutation(seen.begin(), seen.end(), naive.waiting.begin(),
                                    naive.waiting.end()));
    }
  });
}

}  // namespace tempera::gpu::fair_queue_test
