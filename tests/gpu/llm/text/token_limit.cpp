// A limit of tokens refuses no text that keeps it, and stops soon in one that cannot; so does
// whoever no longer waits.
#include "gpu/llm/text/token_limit.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.hpp"
#include "gpu/llm/text/byte_pair_encoding.hpp"
#include "gpu/llm/text/encoding_stop.hpp"
#include "settings/resolve.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::token_limit_test {
namespace {

const Vocabulary vocabulary{{"a", 0}, {"b", 1}, {"ab", 2}, {"abab", 3}, {"aa", 4}};

BytePairEncoding small_encoding() {
  BytePairEncoding encoding(vocabulary, std::nullopt, false);
  encoding.add_merge(0, 1, 2);
  encoding.add_merge(2, 2, 3);
  encoding.add_merge(0, 0, 4);
  return encoding;
}

}  // namespace

TEST_CASE("a long word is encoded until nobody waits for it, and to its end by whoever does") {
  const BytePairEncoding encoding = small_encoding();
  std::string word;
  for (int i = 0; i < 25'000; ++i) word += "abab";
  const auto tokens = encoding.encode(word, "word");
  for (const std::size_t patience : {0, 1, 5, 1'000'000}) {
    CAPTURE(patience);
    std::size_t asked = 0;
    const EncodingStop stop([&] { return asked++ >= patience; });
    if (patience > 1000)
      CHECK(encoding.encode(word, "word") == tokens);
    else
      CHECK_THROWS_AS(encoding.encode(word, "word"), EncodingStop::Stopped);
    CHECK(asked <= 100);
  }
  CHECK(encoding.encode(word, "word") == tokens);
}

TEST_CASE("a word within the limit is encoded as without it, and one far beyond is refused") {
  const BytePairEncoding encoding = small_encoding();
  law("any word of two letters, of up to 10,000", [&] {
    std::string word;
    const auto pieces = *rc::gen::inRange<std::size_t>(1, 2500);
    const auto kinds = *rc::gen::inRange<std::size_t>(1, 4);
    for (std::size_t i = 0; i < pieces; ++i)
      word += std::array{"abab", "a", "bbaa"}[(i * i + i / 7) % kinds];
    const auto tokens = encoding.encode(word, "word");
    const auto limit = *rc::gen::inRange<std::size_t>(1, 4000);
    try {
      const TokenLimit at_most(limit);
      RC_ASSERT(encoding.encode(word, "word") == tokens);
      // Four letters make a token at most.
      RC_ASSERT(word.size() <= 4096 || word.size() / 4 <= limit);
    } catch (const TokenLimit::Exceeded&) {
      RC_ASSERT(tokens.size() > limit);
    }
    RC_ASSERT(encoding.encode(word, "word") == tokens);
  });
}

TEST_CASE("limits of a thread are the innermost one's") {
  CHECK_FALSE(TokenLimit::is_set());
  CHECK_NOTHROW(TokenLimit::check_count(1000000));
  {
    const TokenLimit outer(10);
    CHECK_NOTHROW(TokenLimit::check_count(21));
    CHECK_THROWS_AS(TokenLimit::check_count(22), TokenLimit::Exceeded);
    CHECK_NOTHROW(TokenLimit::check_word(10));
    CHECK_THROWS_AS(TokenLimit::check_word(11), TokenLimit::Exceeded);
    {
      const TokenLimit inner(100);
      CHECK_NOTHROW(TokenLimit::check_word(100));
    }
    CHECK_THROWS_AS(TokenLimit::check_word(11), TokenLimit::Exceeded);
  }
  CHECK_FALSE(TokenLimit::is_set());
}

TEST_CASE("a prompt that cannot fit is refused without its tokens being counted", "[session]") {
  const OpenedModel model = OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  REQUIRE(model.positions() == 64);
  const auto refused = [&](const std::string& text, const std::string& what) {
    require_bad_input(
        [&] {
          resolve_prompt(model, text, {}, {4, true}, "prompt");
        },
        {"prompt: " + what, "exceed the 64 positions of the model", "shorten the prompt"});
  };
  refused(std::string(100, '1'), "100 prompt tokens and a horizon of 4");
  refused(std::string(1 << 20, '1'), "more than 64 prompt tokens");
}

}  // namespace tempera::gpu::token_limit_test
