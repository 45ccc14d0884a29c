#include "gpu/llm/text/byte_pair_encoding.hpp"

#include <map>

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {

namespace {

/// The definition, step by step: while neighbours can merge, the pair of lowest rank does, the
/// leftmost first.
std::vector<std::uint32_t> merge_one_by_one(std::vector<std::uint32_t> tokens,
                                            const std::map<std::pair<std::uint32_t, std::uint32_t>,
                                                           std::pair<int, std::uint32_t>>& merges) {
  while (true) {
    std::size_t best = tokens.size();
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const auto merge = merges.find({tokens[i], tokens[i + 1]});
      if (merge == merges.end()) continue;
      if (best == tokens.size() ||
          merge->second.first < merges.at({tokens[best], tokens[best + 1]}).first) {
        best = i;
      }
    }
    if (best == tokens.size()) return tokens;
    tokens[best] = merges.at({tokens[best], tokens[best + 1]}).second;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

}  // namespace

TEST_CASE("merging by a queue is merging one by one", "[byte_pair_encoding]") {
  law("random merges of random words", [] {
    Vocabulary vocabulary = {{"a", 0}, {"b", 1}, {"c", 2}};
    BytePairEncoding pairs(vocabulary, std::nullopt, false);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<int, std::uint32_t>> merges;
    const auto count = *rc::gen::inRange(0, 8);
    for (int rank = 0; rank < count; ++rank) {
      const auto tokens = static_cast<std::uint32_t>(3 + rank);
      const auto left = *rc::gen::inRange<std::uint32_t>(0, tokens);
      const auto right = *rc::gen::inRange<std::uint32_t>(0, tokens);
      pairs.add_merge(left, right, tokens);
      merges[{left, right}] = {rank, tokens};
    }
    const auto word = *rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'));
    std::vector<std::uint32_t> tokens;
    for (const char c : word) tokens.push_back(static_cast<std::uint32_t>(c - 'a'));
    RC_ASSERT(pairs.encode(word, "word") == merge_one_by_one(tokens, merges));
  });
}

TEST_CASE("unknown characters become the unknown token, fused or not, or are refused",
          "[byte_pair_encoding]") {
  const Vocabulary vocabulary = {{"a", 0}, {"?", 1}, {"ab", 2}};
  using Tokens = std::vector<std::uint32_t>;
  const auto encode = [&](std::optional<BytePairEncoding::Unknown> unknown, bool whole) {
    return BytePairEncoding(vocabulary, unknown, whole).encode("axy\xC3\xA9z", "prompt");
  };
  CHECK(encode(BytePairEncoding::Unknown{1, false}, false) == Tokens{0, 1, 1, 1, 1});
  CHECK(encode(BytePairEncoding::Unknown{1, true}, false) == Tokens{0, 1});
  require_bad_input([&] { encode(std::nullopt, false); }, {"prompt", "\"x\"", "no token"});
  CHECK(BytePairEncoding(vocabulary, std::nullopt, true).encode("ab", "p") == Tokens{2});
  CHECK(BytePairEncoding(vocabulary, std::nullopt, true).encode("", "p").empty());
}

TEST_CASE("a character without a token falls back to the tokens of its bytes",
          "[byte_pair_encoding]") {
  const Vocabulary vocabulary = {{"a", 300}};
  BytePairEncoding pairs(vocabulary, BytePairEncoding::Unknown{1, true}, false);
  BytePairEncoding::ByteTokens bytes{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) bytes[byte] = byte + 10;
  pairs.fall_back_to(bytes);
  pairs.add_merge(300, 0xC3 + 10, 301);  // merges reach the tokens of bytes too
  CHECK(pairs.encode("a\xC3\xA9z", "p") == std::vector<std::uint32_t>{301, 0xA9 + 10, 'z' + 10});
}

TEST_CASE("a very long word does not take the square of its length", "[byte_pair_encoding]") {
  const Vocabulary vocabulary = {{"a", 0}};
  BytePairEncoding pairs(vocabulary, std::nullopt, false);
  for (std::uint32_t token = 0; token < 17; ++token) pairs.add_merge(token, token, token + 1);
  CHECK(pairs.encode(std::string(1 << 17, 'a'), "p") == std::vector<std::uint32_t>{17});
}

}  // namespace tempera::gpu
