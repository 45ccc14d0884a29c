#include "gpu/lottery/philox.hpp"

#include "tests/catch.hpp"

using tempera::gpu::philox;
using tempera::gpu::Word;

// The known-answer vectors that Random123 publishes for philox4x32-10.
TEST_CASE("Philox4x32-10 gives the published known answers") {
  const auto check = [](Word counter, std::uint64_t key, Word expected) {
    const Word word = philox(counter, key);
    for (int i = 0; i < 4; ++i) CHECK(word.limb[i] == expected.limb[i]);
  };
  check({{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  check({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffffffffffff,
        {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  check({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822,
        {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}
