#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tempera::gpu {

/// Tokens by their text.
using Vocabulary = std::unordered_map<std::string, std::uint32_t>;

/// Byte-pair encoding of one word: its characters are tokens, and as long as neighbours can merge,
/// the pair of lowest rank does, the leftmost of equals first.
class BytePairEncoding {
 public:
  /// What a character without a token becomes.
  struct Unknown {
    std::uint32_t token;
    bool fuses;  // a run of them becomes one token
  };

  /// The token of each byte, for characters without a token.
  using ByteTokens = std::array<std::uint32_t, 256>;

  /// `vocabulary` is copied into neither side: it must outlive this object. `file` is if all
  /// this was read, for errors.
  BytePairEncoding(const Vocabulary& vocabulary, std::optional<Unknown> unknown,
                   bool takes_whole_words, std::string file = "the tokenizer")
      : vocabulary_(&vocabulary),
        unknown_(unknown),
        takes_whole_words_(takes_whole_words),
        file_(std::move(file)) {}

  /// From now on a character without a token becomes the tokens of its bytes.
  void fall_back_to(const ByteTokens& bytes) { bytes_ = bytes; }

  /// Tokens `left` and `right` merge into `merged`; the later added, the higher the rank.
  void add_merge(std::uint32_t left, std::uint32_t right, std::uint32_t merged);

  /// The tokens of a word of well-formed UTF-8.
  /// @throw BadInput naming `where` for a character without a token if there is neither an
  /// Unknown nor a token for each byte.
  std::vector<std::uint32_t> encode(std::string_view word, const std::string& where) const;

 private:
  struct Merge {
    std::size_t rank;
    std::uint32_t merged;
  };

  std::size_t longest_token() const;
  const Merge* find(std::uint32_t left, std::uint32_t right) const;
  std::vector<std::uint32_t> characters(std::string_view word, const std::string& where) const;

  const Vocabulary* vocabulary_;
  std::optional<Unknown> unknown_;
  std::optional<ByteTokens> bytes_;
  bool takes_whole_words_;
  std::string file_;
  std::unordered_map<std::uint64_t, Merge> merges_;  // by left << 32 | right
  std::size_t ranks_ = 0;
};

/// Refuses a piece of text that has no token.
/// @throw BadInput naming `where` and the tokenizer's `file`
[[noreturn]] void refuse_untokenizable(std::string_view piece, const std::string& where,
                                       const std::string& file);

}  // namespace tempera::gpu
