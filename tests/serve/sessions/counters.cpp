// The places of the queue against a sum.
#include "serve/sessions/counters.hpp"

#include "tests/law.hpp"

namespace tempera::serve::counters_test {

TEST_CASE("choices have a place up to the last one, and each that ends gives its own back", "[serve]") {
  law("choices under way are the sum of those that have a place", [] {
    const auto most = *rc::gen::inRange<std::size_t>(1, 6);
    Counters counters;
    std::vector<std::pair<std::unique_ptr<QueueEntry>, std::size_t>> entries(4);
    for (int step = 0; step < 60; ++step) {
      auto& [entry, choices] = entries[*rc::gen::inRange<std::size_t>(0, entries.size())];
      entry.reset();
      choices = 0;
      std::size_t others = 0;
      for (const auto& each : entries) others += each.second;
      RC_ASSERT(counters.under_way == others);
      const auto wanted = *rc::gen::inRange<std::size_t>(0, most + 2);
      entry = QueueEntry::take(counters, wanted, most);
      RC_ASSERT((entry != nullptr) == (others + wanted <= most));
      if (entry) choices = wanted;
      RC_ASSERT(counters.under_way == others + choices);
    }
  });
}

}  // namespace tempera::serve::counters_test
