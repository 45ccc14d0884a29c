#pragma once

#include <cstdint>

#include "gpu/core/lottery/philox.hpp"

namespace tempera::gpu {

// From a winner back to the words that select it, by division if threshold_of multiplies: for
// lotteries that know the winner and must be answered through production's draw.

/// The least word whose threshold is at least t: ceil(t · 2^128 / total).
/// Range: 0 <= t < total < 2^64.
Word least_word(std::uint64_t threshold, std::uint64_t total);

/// The largest word whose threshold is at most t: ceil((t + 1) · 2^128 / total) − 1.
/// Range: as for least_word.
Word largest_word(std::uint64_t threshold, std::uint64_t total);

/// A pseudo-random word from `least` to `largest`, a function of the three arguments.
/// Range: least <= largest.
Word word_between(const Word& least, const Word& largest, std::uint64_t seed);

/// The counter whose word is `word` under a key: the inverse of philox, which is a bijection.
Word counter_giving(const Word& word, std::uint64_t key);

}  // namespace tempera::gpu
