// The limits of a client against a sum.
#include "serve/sessions/client_account.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/between.hpp"
#include "tests/law.hpp"

namespace tempera::serve::client_account_test {
namespace {

using Time = ClientAccount::Time;

}  // namespace

TEST_CASE("a client has as many requests at once as its limit, and each that ends gives its place",
          "[serve]") {
  law("places are given up to the limit", [] {
    const auto limit = between<std::size_t>(0, 4);
    const auto account = std::make_shared<ClientAccount>(ClientLimits{limit, 0}, Time{});
    std::vector<std::unique_ptr<ClientPlace>> places(6);
    for (int step = 0; step < 40; ++step) {
      auto& place = places[between<std::size_t>(0, places.size() - 1)];
      place.reset();
      std::size_t others = 0;
      for (const auto& each : places) others += each ? 1 : 0;
      ClientAccount::Refusal refusal;
      place = account->begin(Time{}, refusal);
      RC_ASSERT((place != nullptr) == (limit == 0 || others < limit));
      RC_ASSERT(place || refusal.retry_after.count() > 0);
    }
  });
}

TEST_CASE("a request begins while tokens are left, and the next waits until the debt is paid",
          "[serve]") {
  // Sixty tokens a minute are one each second: all sums below are of whole numbers, so exact.
  law("what is left is the least of the limit and what the time has brought", [] {
    constexpr std::size_t limit = 60;
    const auto account = std::make_shared<ClientAccount>(ClientLimits{0, limit}, Time{});
    std::int64_t left = limit;
    std::int64_t second = 0;
    for (int step = 0; step < 60; ++step) {
      const auto passed = between<std::int64_t>(0, 40);
      second += passed;
      left = std::min<std::int64_t>(limit, left + passed);
      const Time now{std::chrono::seconds(second)};
      if (*rc::gen::arbitrary<bool>()) {
        const auto tokens = between<std::int64_t>(0, 100);
        account->pay(static_cast<std::uint64_t>(tokens), now);
        left -= tokens;
      }
      ClientAccount::Refusal refusal;
      const auto place = account->begin(now, refusal);
      RC_ASSERT((place != nullptr) == (left >= 1));
      if (place) continue;
      RC_ASSERT(refusal.retry_after.count() == 1 - left);
      // A client that comes back at that time is let in, and a second earlier it is not.
      RC_ASSERT(account->begin(now + refusal.retry_after - std::chrono::seconds(1), refusal) ==
                nullptr);
      RC_ASSERT(account->begin(now + std::chrono::seconds(1 - left), refusal) != nullptr);
      second += 1 - left;
      left = 1;
    }
  });
}

}  // namespace tempera::serve::client_account_test
