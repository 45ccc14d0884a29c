#include "gpu/session/prompt_number.hpp"

#include <set>
#include <string>

#include "tests/catch.hpp"

namespace tempera::gpu {

// From FNV-1a and Philox4x32-10 written anew in Python: FNV-1a of "a" is 0xAF63DC4C8601EC8C.
// Another number would make other answers of the same seed.
TEST_CASE("a prompt's number is a function of its id alone") {
  CHECK(prompt_number("a") == prompt_number("a"));
  CHECK(prompt_number("a") != prompt_number("b"));
  CHECK(prompt_number("a") == PromptNumber{0x7F6023B3U, 0x3882A53DU});
}

TEST_CASE("ids have numbers of their own, and each half is spread evenly") {
  std::set<PromptNumber> numbers;
  std::size_t high_address = 0;
  std::size_t high_seed = 0;
  constexpr std::size_t ids = 100'000;
  for (std::size_t i = 0; i < ids; ++i) {
    const PromptNumber number = prompt_number("question-" + std::to_string(i));
    numbers.insert(number);
    high_address += number.in_address >> 31;
    high_seed += number.in_seed >> 31;
  }
  CHECK(numbers.size() == ids);
  // Five standard deviations of a fair coin: 5 sqrt(ids / 4) = 791.
  for (const std::size_t high : {high_address, high_seed}) {
    CHECK(high > ids / 2 - 791);
    CHECK(high < ids / 2 + 791);
  }
}

TEST_CASE("the number enters the upper half of the seed") {
  CHECK(PromptNumber{7, 0}.seed(5) == 5);
  CHECK(PromptNumber{7, 3}.seed(5) == 0x300000005U);
  CHECK(PromptNumber{7, 3}.seed(0x100000005U) == 0x200000005U);
}

}  // namespace tempera::gpu
