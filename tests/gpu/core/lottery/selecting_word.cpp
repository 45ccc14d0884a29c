#include "gpu/core/lottery/selecting_word.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include "gpu/core/lottery/winner.hpp"
#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera::gpu;
using boost::multiprecision::cpp_int;

namespace {

const cpp_int words = cpp_int(1) << 128;

cpp_int value_of(const Word& word) {
  cpp_int value = 0;
  for (int i = 3; i >= 0; --i) value = (value << 32) + word.limb[i];
  return value;
}

/// floor(word · total / 2^128) as it would be if the carry of the lower half were forgotten.
std::uint64_t without_carry(const Word& word, std::uint64_t total) {
  return static_cast<std::uint64_t>((value_of(word) >> 64) * total >> 64);
}

/// A total of any size, at least 1, and a threshold below it.
struct Case {
  Case(std::uint64_t spread, std::uint64_t position, std::uint8_t shift)
      : total((spread >> (shift % 64)) | 1U), threshold(position % total) {}
  std::uint64_t total;
  std::uint64_t threshold;
};

}  // namespace

TEST_CASE("the least and the largest word of a threshold are the ends of its interval") {
  law("against big integers", [](std::uint64_t spread, std::uint64_t position, std::uint8_t shift) {
    const Case one(spread, position, shift);
    const cpp_int least = value_of(least_word(one.threshold, one.total));
    const cpp_int largest = value_of(largest_word(one.threshold, one.total));
    RC_ASSERT(least * one.total >= one.threshold * words);
    RC_ASSERT((least == 0 || (least - 1) * one.total < one.threshold * words));
    RC_ASSERT(largest * one.total < (cpp_int(one.threshold) + 1) * words);
    RC_ASSERT((largest + 1) * one.total >= (cpp_int(one.threshold) + 1) * words);
    RC_ASSERT(largest < words);
  });
}

TEST_CASE("both ends of an interval set its threshold, and so does what is between") {
  law("any total", [](std::uint64_t spread, std::uint64_t position, std::uint8_t shift) {
    const Case one(spread, position, shift);
    const Word least = least_word(one.threshold, one.total);
    const Word largest = largest_word(one.threshold, one.total);
    RC_ASSERT(threshold_of(least, one.total) == one.threshold);
    RC_ASSERT(threshold_of(largest, one.total) == one.threshold);
    const Word between = word_between(least, largest, position);
    RC_ASSERT(value_of(between) >= value_of(least));
    RC_ASSERT(value_of(between) <= value_of(largest));
    RC_ASSERT(threshold_of(between, one.total) == one.threshold);
  });
}

// word · W = t · 2^128 + rest with rest < W < 2^64, so the middle 64 bits are 0: for odd W and t >
// 0 they are the sum of two numbers that are not, and it carries.
TEST_CASE("the least word of a threshold above 0 needs the carry") {
  law("odd totals", [](std::uint64_t spread, std::uint64_t position, std::uint8_t shift) {
    const std::uint64_t total = spread >> shift % 64 | 3U;
    const std::uint64_t threshold = 1 + position % (total - 1);
    RC_ASSERT(without_carry(least_word(threshold, total), total) == threshold - 1);
  });
}

TEST_CASE("a word is between two words that are one") {
  const Word only{{7, 0, 9, 1}};
  CHECK(value_of(word_between(only, only, 5)) == value_of(only));
}

TEST_CASE("the counter that gives a word is Philox's inverse") {
  law("any word and key",
      [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d, std::uint64_t key) {
        const Word word{{a, b, c, d}};
        RC_ASSERT(value_of(philox(counter_giving(word, key), key)) == value_of(word));
        RC_ASSERT(value_of(counter_giving(philox(word, key), key)) == value_of(word));
      });
}
