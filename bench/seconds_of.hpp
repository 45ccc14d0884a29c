#pragma once

#include <chrono>

namespace tempera::bench {

/// Wall seconds that work() takes.
double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace tempera::bench
