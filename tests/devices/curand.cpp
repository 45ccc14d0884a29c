// The words of cuRAND on the device against ours. A host's tests compile cuRAND's headers
// themselves (tests/gpu/core/lottery/curand.cpp).
#include <algorithm>

#include "gpu/device/device_system.hpp"
#include "tests/catch.hpp"
#include "tests/devices/curand_words.hpp"

using namespace tempera::gpu;

TEST_CASE("on a device a word of Philox is cuRAND's of the same counter under the same seed") {
  std::vector<Word> counters;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    Word counter = philox({{i, 1, 2, 3}}, 17);
    counter.limb[1] &= 0x3FFFFFFFU;  // cuRAND skips by single numbers, of which a word has four
    counters.push_back(i < 4 ? Word{{i, 0, 0, 0}} : counter);
  }
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x123456789ABCDEF0}}) {
    const std::vector<Word> drawn = curand_words(counters, seed);
    REQUIRE(drawn.size() == (device_system() == "CUDA" ? counters.size() : 0));
    std::size_t different = 0;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const Word own = philox(counters[i], seed);
      different += std::equal(std::begin(own.limb), std::end(own.limb), drawn[i].limb) ? 0 : 1;
    }
    CHECK(different == 0);
  }
}
