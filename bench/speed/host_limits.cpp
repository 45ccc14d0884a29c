#include "bench/speed/host_limits.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "gpu/device/for_instruction_set.hpp"

namespace tempera::gpu {

namespace {

template <class Work>
double least_seconds(const Work& work) {
  double least = 0.0;
  for (int i = 0; i < 8; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    least = i == 0 ? seconds.count() : std::min(least, seconds.count());
  }
  return least;
}

}  // namespace

HostLimits measure_host_limits() {
  const LimitLoops loops = for_instruction_set(
      chosen_instruction_set(), []<InstructionSet Set> { return limit_loops_for<Set>(); });
  HostLimits limits;
  {
    constexpr std::size_t pieces = 512;
    const std::vector<std::uint32_t> words(pieces * piece_words, 1);
    std::vector<std::uint32_t> sums(pieces);
    limits.read_bytes_per_second =
        static_cast<double>(words.size() * sizeof(std::uint32_t)) /
        least_seconds([&] { loops.read(words.data(), pieces, sums.data()); });
  }
  // So many items are shared evenly by the cores of any machine; each takes some tens of
  // microseconds.
  constexpr std::size_t items = 1024;
  constexpr std::size_t passes = 20'000;
  std::vector<float> sums(items);
  limits.multiply_adds_per_second =
      static_cast<double>(items * passes * loops.floats) /
      least_seconds([&] { loops.multiply_add(items, passes, sums.data()); });
  return limits;
}

}  // namespace tempera::gpu
