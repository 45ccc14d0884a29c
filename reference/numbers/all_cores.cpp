#include "reference/numbers/all_cores.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace tempera::reference {

void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work,
                  std::size_t worth) {
  const std::size_t threads =
      std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  if (threads <= 1 || count < worth) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> workers;
  for (std::size_t t = 0; t < threads; ++t)
    workers.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    });
}

}  // namespace tempera::reference
