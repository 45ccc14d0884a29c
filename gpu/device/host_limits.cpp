#include "gpu/device/host_limits.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace tempera::gpu {

namespace {

LimitLoops limit_loops(InstructionSet set) {
  switch (set) {
#if defined(TEMPERA_HAS_AVX512)
    case InstructionSet::avx512:
      return limit_loops_for<InstructionSet::avx512>();
#endif
#if defined(TEMPERA_HAS_AVX2)
    case InstructionSet::avx2:
      return limit_loops_for<InstructionSet::avx2>();
#endif
    default:
      return limit_loops_for<InstructionSet::plain>();
  }
}

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
  const LimitLoops loops = limit_loops(chosen_instruction_set());
  HostLimits limits;
  {
    constexpr std::size_t pieces = 512;
    const std::vector<std::uint32_t> words(pieces * piece_words, 1);
    std::vector<std::uint32_t> sums(pieces);
    limits.read_bytes_per_second =
        static_cast<double>(words.size() * sizeof(std::uint32_t)) /
        least_seconds([&] { loops.read(words.data(), pieces, sums.data()); });
  }
  // As many items as any machine's cores share out evenly, each some tens of microseconds.
  constexpr std::size_t items = 1024;
  constexpr std::size_t passes = 20'000;
  std::vector<float> sums(items);
  limits.multiply_adds_per_second =
      static_cast<double>(items * passes * loops.floats) /
      least_seconds([&] { loops.multiply_add(items, passes, sums.data()); });
  return limits;
}

}  // namespace tempera::gpu
