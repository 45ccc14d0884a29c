#include "gpu/device/host_threads.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gpu/device/thread_limit.hpp"
#include "tests/catch.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {
namespace {

/// How often each item was done in one call.
std::vector<int> counts_of(std::size_t items) {
  std::vector<std::atomic<int>> counts(items);
  on_host_threads(items, [&](std::size_t item) { ++counts[item]; });
  return {counts.begin(), counts.end()};
}

}  // namespace

TEST_CASE("every item is done once, on however many threads", "[device]") {
  law("every item is done once", [] {
    const auto items = *rc::gen::inRange<std::size_t>(0, 5000);
    const auto threads = *rc::gen::inRange<std::size_t>(1, 9);
    const ThreadLimit limit(threads);
    RC_ASSERT(counts_of(items) == std::vector<int>(items, 1));
  });
}

// A thread that comes late to a call meets the next: what it then does must be of that one.
TEST_CASE("calls that follow at once do not mix", "[device]") {
  for (const std::size_t threads : {2, 3, 7}) {
    const ThreadLimit limit(threads);
    for (std::size_t call = 0; call < 20'000; ++call) {
      const std::size_t items = 1 + call % 7;
      std::vector<std::size_t> done(items, 0);
      on_host_threads(items, [&, call](std::size_t item) { done[item] += call * 10 + item; });
      for (std::size_t item = 0; item < items; ++item) {
        if (done[item] != call * 10 + item) FAIL("call " << call << ", item " << item);
      }
    }
  }
}

TEST_CASE("a call from within a call, and one beside another, are whole", "[device]") {
  const ThreadLimit limit(3);
  std::atomic<std::size_t> inner = 0;
  on_host_threads(
      10, [&](std::size_t) { on_host_threads(20, [&](std::size_t item) { inner += item; }); });
  CHECK(inner == 10 * 190);

  std::atomic<std::size_t> beside = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        for (int call = 0; call < 200; ++call)
          on_host_threads(20, [&](std::size_t item) { beside += item; });
      });
    }
  }
  CHECK(beside == 4 * 200 * 190);
}

TEST_CASE("what an item throws reaches the caller, and the next call works", "[device]") {
  for (const std::size_t threads : {1, 4}) {
    const ThreadLimit limit(threads);
    const auto failing = [](std::size_t item) {
      if (item == 37) throw std::domain_error("item 37");
    };
    CHECK_THROWS_AS(on_host_threads(100, failing), std::domain_error);
    CHECK(counts_of(100) == std::vector<int>(100, 1));
  }
}

TEST_CASE("a limit keeps to so many threads", "[device]") {
  for (const std::size_t threads : {1, 2, 4}) {
    const ThreadLimit limit(threads);
    std::atomic<std::size_t> at_once = 0;
    std::atomic<std::size_t> most = 0;
    // Items wait for as many beside them as the limit lets in, so that all threads come to work on
    // a busy machine too; if they never come, the wait ends and the check fails.
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    on_host_threads(200, [&](std::size_t) {
      const std::size_t now = ++at_once;
      for (std::size_t known = most; known < now && !most.compare_exchange_weak(known, now);) {
      }
      do {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      } while (most < threads && std::chrono::steady_clock::now() < patience);
      --at_once;
    });
    CHECK(most == threads);
  }
}

TEST_CASE("scratch memory is aligned and each thread's own", "[device]") {
  float* const own = host_scratch(100);
  CHECK(reinterpret_cast<std::uintptr_t>(own) % 64 == 0);
  CHECK(host_scratch(50) == own);
  float* other = nullptr;
  std::jthread([&] { other = host_scratch(100); }).join();
  CHECK(other != own);
}

}  // namespace tempera::gpu
