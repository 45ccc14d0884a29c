#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace tempera::serve {

/// How many requests have taken how long. Any thread may add and read.
class Histogram {
 public:
  /// The upper bounds of its buckets in seconds, each counted in its own: from what a cached byte
  /// takes to what a long PPT run does. Longer times have the bucket "+Inf".
  static constexpr std::array bounds{0.001, 0.0025, 0.005, 0.01,  0.025, 0.05, 0.1,
                                     0.25,  0.5,    1.0,   2.5,   5.0,   10.0, 25.0,
                                     50.0,  100.0,  250.0, 500.0, 1000.0};

  void add(std::chrono::duration<double> time);
  /// Adds it to a text in Prometheus' format, version 0.0.4.
  void write(std::string& text, const std::string& name, const std::string& help) const;

 private:
  mutable std::mutex mutex_;
  std::array<std::uint64_t, bounds.size() + 1> counts_{};
  double sum_ = 0.0;
};

}  // namespace tempera::serve
