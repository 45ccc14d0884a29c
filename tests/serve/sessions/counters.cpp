// The places of the queue against a sum.
#include "serve/sessions/counters.hpp"

#include <string>

#include "tests/between.hpp"
#include "tests/law.hpp"

namespace tempera::serve::counters_test {

TEST_CASE("choices have a place up to the last one, and each that ends gives its own back",
          "[serve]") {
  law("choices under way are the sum of those that have a place", [] {
    const auto most = *rc::gen::inRange<std::size_t>(1, 6);
    Counters counters;
    std::vector<std::pair<std::unique_ptr<QueueEntry>, std::size_t>> entries(4);
    for (int step = 0; step < 60; ++step) {
      auto& [entry, choices] = entries[between<std::size_t>(0, entries.size() - 1)];
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

TEST_CASE("the first 64 rungs and edges have labels of their own, and each counts its own",
          "[serve]") {
  for (const std::size_t rungs : {1, 64, 65, 70}) {
    CAPTURE(rungs);
    Counters counters;
    gpu::Answer answer;
    for (std::size_t rung = 0; rung < rungs; ++rung) {
      answer.moves.push_back({.proposed = 1000 + rung, .accepted = rung});
      answer.swaps.push_back({.proposed = 5000 + rung, .accepted = 2 * rung});
    }
    counters.add(answer);
    counters.add(answer);
    const std::string text = counters.prometheus();
    const auto has = [&](const std::string& what, std::size_t label, const std::string& outcome,
                         std::size_t value) {
      return text.find("\ntempera_" + what + "=\"" + std::to_string(label) + "\",outcome=\"" +
                       outcome + "\"} " + std::to_string(value) + "\n") != std::string::npos;
    };
    for (std::size_t rung = 0; rung < rungs; ++rung) {
      const bool is_told = rung < 64;
      CHECK(has("local_moves_total{rung", rung + 1, "proposed", 2 * (1000 + rung)) == is_told);
      CHECK(has("local_moves_total{rung", rung + 1, "accepted", 2 * rung) == is_told);
      CHECK(has("swaps_total{edge", rung + 1, "proposed", 2 * (5000 + rung)) == is_told);
      CHECK(has("swaps_total{edge", rung + 1, "accepted", 4 * rung) == is_told);
    }
  }
}

}  // namespace tempera::serve::counters_test
