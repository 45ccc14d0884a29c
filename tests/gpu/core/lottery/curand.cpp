// The Philox of cuRAND's own headers, compiled for the host, against ours.
#if defined(TEMPERA_HAS_CURAND)
#define QUALIFIERS static inline
#include <cuda_runtime.h>
#include <curand_kernel.h>
#endif

#include <iostream>

#include "gpu/core/lottery/philox.hpp"
#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera::gpu;

TEST_CASE("a word of Philox is cuRAND's word of the same counter under the same seed") {
#if defined(TEMPERA_HAS_CURAND)
  law("any counter, any seed", [](std::uint64_t low, std::uint64_t high, std::uint64_t seed) {
    // cuRAND counts single numbers, four to a word: 2^66 of them to a subsequence.
    curandStatePhilox4_32_10_t state;
    curand_init(seed, high, 0, &state);
    skipahead(low / 4 * 4, &state);
    const std::uint64_t words = low / 4;
    const uint4 drawn = curand4(&state);
    const Word word =
        philox({{static_cast<std::uint32_t>(words), static_cast<std::uint32_t>(words >> 32),
                 static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)}},
               seed);
    RC_ASSERT(word.limb[0] == drawn.x);
    RC_ASSERT(word.limb[1] == drawn.y);
    RC_ASSERT(word.limb[2] == drawn.z);
    RC_ASSERT(word.limb[3] == drawn.w);
  });
#else
  std::cout << "SKIPPED: our Philox against cuRAND's: curand_kernel.h is not on this machine\n";
  SUCCEED();
#endif
}
