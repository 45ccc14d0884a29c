#pragma once

#include <cstdint>
#include <vector>

#include "gpu/core/lottery/philox.hpp"

namespace tempera::gpu {

/// The word that cuRAND draws on the device for each counter under a seed; empty in a build for the
/// host, whose tests compile cuRAND's headers themselves.
std::vector<Word> curand_words(const std::vector<Word>& counters, std::uint64_t seed);

}  // namespace tempera::gpu
