#include "gpu/core/lottery/philox.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"

using tempera::gpu::philox;
using tempera::gpu::Word;

namespace {

void check_word(Word counter, std::uint64_t key, Word expected) {
  const Word word = philox(counter, key);
  for (int i = 0; i < 4; ++i) CHECK(word.limb[i] == expected.limb[i]);
}

Word word_from(const nlohmann::json& limbs) {
  Word word;
  for (std::size_t i = 0; i < 4; ++i) word.limb[i] = limbs.at(i).get<std::uint32_t>();
  return word;
}

}  // namespace

// The known-answer vectors that Random123 publishes for philox4x32-10.
TEST_CASE("Philox4x32-10 gives the published known answers") {
  check_word({{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  check_word({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffffffffffff,
             {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  check_word({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822,
             {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST_CASE(
    "Philox4x32-10 gives the words of PyPI's randomgen, every bit of counter and key in use") {
  std::ifstream file(TEMPERA_SOURCE_DIR "/tests/fixtures/philox/words.json");
  const auto rows = nlohmann::json::parse(file);
  REQUIRE(rows.size() == 256);
  for (const auto& row : rows)
    check_word(word_from(row.at("counter")), row.at("key").get<std::uint64_t>(),
               word_from(row.at("word")));
}
