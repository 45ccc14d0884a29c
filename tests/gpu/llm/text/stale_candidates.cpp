// Words in which a candidate for a merge outlives one of its tokens, one word for each way.
#include "gpu/llm/text/byte_pair_encoding.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu::stale_candidates_test {
namespace {

enum : std::uint32_t { a, b, c, d, e, first_merged };

/// Encodes a word of a … e with these merges; the n-th makes the token first_merged + n.
std::vector<std::uint32_t> encode(
    const std::string& word, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& merges) {
  const Vocabulary vocabulary{{"a", a}, {"b", b}, {"c", c}, {"d", d}, {"e", e}};
  BytePairEncoding pairs(vocabulary, std::nullopt, false);
  std::uint32_t merged = first_merged;
  for (const auto& [left, right] : merges) pairs.add_merge(left, right, merged++);
  return pairs.encode(word, "word");
}

constexpr std::uint32_t M = first_merged, N = M + 1, O = M + 2, P = M + 3;
using Tokens = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a candidate whose left token has merged is stale, though its right token follows") {
  // b c, then a with it; the candidate a b now is before another b.
  CHECK(encode("abcb", {{b, c}, {a, M}, {a, b}}) == Tokens{N, b});
}

TEST_CASE("a candidate whose right token has merged is stale") {
  CHECK(encode("abc", {{b, c}, {a, b}}) == Tokens{a, M});
  CHECK(encode("abca", {{b, c}, {a, b}, {M, a}}) == Tokens{a, O});
}

TEST_CASE("a candidate whose place has merged away is stale, and its neighbours find each other") {
  // a b; the candidate b c is gone with b; then d e, and c with it.
  CHECK(encode("abcde", {{a, b}, {b, c}, {d, e}, {c, O}}) == Tokens{M, P});
}

TEST_CASE("the token after a merge knows its new left neighbour") {
  // a b, then c d, then both.
  CHECK(encode("abcd", {{a, b}, {c, d}, {M, N}}) == Tokens{O});
  CHECK(encode("abcd", {{c, d}, {b, M}, {a, N}}) == Tokens{O});
  CHECK(encode("abcde", {{b, c}, {d, e}, {M, N}, {a, O}}) == Tokens{P});
}

TEST_CASE("of equal pairs the leftmost merges first") {
  CHECK(encode("aaa", {{a, a}}) == Tokens{M, a});
  CHECK(encode("aaaaa", {{a, a}, {M, a}}) == Tokens{M, N});
}

}  // namespace tempera::gpu::stale_candidates_test
