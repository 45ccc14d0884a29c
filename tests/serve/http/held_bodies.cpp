// What bodies hold against a sum: a share that grows takes its bytes, one that found no room takes
// nothing, and what a share held is there again when it ends, is emptied or moves away.
#include "serve/http/held_bodies.hpp"

#include <map>
#include <memory>
#include <optional>

#include "tests/between.hpp"
#include "tests/law.hpp"

namespace tempera::serve::held_bodies_test {

TEST_CASE("the bytes of bodies are those of a sum, whatever grows, ends and finds no room",
          "[serve]") {
  law("bytes that are held are the sum of the shares, and never more than may be", [] {
    const auto most = *rc::gen::inRange<std::size_t>(1, 6);
    HeldBodies held(most);
    std::vector<std::pair<std::optional<HeldBodies::Share>, std::size_t>> shares(3);
    // Often enough that all of it is taken and given back several times.
    for (int step = 0; step < 60; ++step) {
      auto& [share, bytes] = shares[between<std::size_t>(0, shares.size() - 1)];
      const int what = between(0, 5);
      if (!share || what == 0) {
        share.reset();
        share.emplace(held);
        bytes = 0;
      } else if (what == 1) {
        share->give_back();
        bytes = 0;
      } else if (what == 2) {
        HeldBodies::Share moved = std::move(*share);
        share.reset();
        share.emplace(std::move(moved));
      } else {
        const auto wanted = *rc::gen::inRange<std::size_t>(0, most + 2);
        std::size_t others = 0;
        for (const auto& each : shares) others += each.second;
        others -= bytes;
        const bool fits = wanted <= bytes || others + wanted <= most;
        RC_ASSERT(share->grow_to(wanted) == fits);
        if (fits) bytes = std::max(bytes, wanted);
      }
      std::size_t sum = 0;
      for (const auto& each : shares) sum += each.second;
      RC_ASSERT(held.bytes() == sum);
    }
  });
}

}  // namespace tempera::serve::held_bodies_test
