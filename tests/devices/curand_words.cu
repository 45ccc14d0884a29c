#include "tests/devices/curand_words.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include <curand_kernel.h>

#include "gpu/device/device_memory.hpp"
#include "gpu/device/simt/simt.hpp"
#endif

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_CUDA)

inline namespace TEMPERA_SIMT_FORM {

/// Launch: a thread for each word. words: [count, 4], the counters, and then what is drawn for
/// each.
TEMPERA_KERNEL(128) draw_by_curand(std::uint32_t* words, std::uint32_t count, std::uint64_t seed) {
  const std::uint32_t i = simt::block().x * 128 + simt::thread();
  if (i >= count) return;
  std::uint32_t* const word = words + std::size_t{i} * 4;
  // cuRAND counts single numbers, four to a word: 2^66 of them to a subsequence.
  curandStatePhilox4_32_10_t state;
  curand_init(seed, word[2] | static_cast<unsigned long long>(word[3]) << 32, 0, &state);
  const unsigned long long low = word[0] | static_cast<unsigned long long>(word[1]) << 32;
  skipahead(4 * low, &state);
  const uint4 drawn = curand4(&state);
  word[0] = drawn.x;
  word[1] = drawn.y;
  word[2] = drawn.z;
  word[3] = drawn.w;
}

}  // namespace TEMPERA_SIMT_FORM

std::vector<Word> curand_words(const std::vector<Word>& counters, std::uint64_t seed) {
  std::vector<std::uint32_t> limbs;
  for (const Word& word : counters)
    for (const std::uint32_t limb : word.limb) limbs.push_back(limb);
  DeviceMemory<std::uint32_t> memory{std::span<const std::uint32_t>(limbs)};
  const auto count = static_cast<std::uint32_t>(counters.size());
  simt::Stream stream;
  simt::launch({.blocks = {(count + 127) / 128}, .threads = 128}, stream, draw_by_curand,
               memory.data(), count, seed);
  const std::vector<std::uint32_t> drawn = memory.download(0, limbs.size());
  std::vector<Word> words(counters.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) words[i / 4].limb[i % 4] = drawn[i];
  return words;
}

#else

std::vector<Word> curand_words(const std::vector<Word>&, std::uint64_t) { return {}; }

#endif

}  // namespace tempera::gpu
