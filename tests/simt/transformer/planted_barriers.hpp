// That every barrier of a kernel, and its wait for copies, are needed.
#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "tests/catch.hpp"

namespace tempera::tests {

/// Whether a defect shows under one of the seeds 1 … seeds: by a launch that fails, or by
/// is_wrong(stream), which launches on a stream and says whether the results are others.
template <class IsWrong>
bool shows_under_a_seed(const gpu::simt::PlantedDefect& defect, std::uint64_t seeds,
                        IsWrong is_wrong) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    gpu::simt::Stream stream{.seed = seed, .planted = defect};
    try {
      if (is_wrong(stream)) return true;
    } catch (const gpu::simt::LaunchFailure&) {
      return true;
    }
  }
  return false;
}

/// Each of the barriers that launches on `sound` have met, removed, shows, and so does a wait for
/// copies one short; without a defect nothing shows. shows(defect): whether it does.
template <class Shows>
void require_every_barrier(const gpu::simt::Stream& sound, std::size_t barriers, const char* file,
                           Shows shows) {
  REQUIRE(sound.barrier_lines.size() == barriers);
  for (const unsigned line : sound.barrier_lines) {
    INFO("the barrier on line " << line << " of " << file);
    CHECK(shows({.barrier_line = line}));
  }
  CHECK(shows({.wait_one_short = true}));
  CHECK_FALSE(shows({}));
}

}  // namespace tempera::tests
