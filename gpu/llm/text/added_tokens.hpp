#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::gpu {

/// Tokens that are found in a text as they are, before anything else cuts it.
class AddedTokens {
 public:
  /// Whether a token takes in the white space before it, but for what another token has taken, and
  /// the white space after it. A token that begins in that white space is found all the same,
  /// unless it would take in what is before it, too, and another has taken all of it.
  struct Sides {
    bool before = false;
    bool after = false;
  };

  /// `content` is not empty.
  void add(std::string content, std::uint32_t id, Sides sides);

  /// A stretch of text, or a token found in it.
  struct Piece {
    std::string_view text;
    std::optional<std::uint32_t> id;
  };
  /// The pieces of `text`, well-formed UTF-8, in order: the leftmost token first, the longest of
  /// those that start at one place. Empty stretches are left out. After a token that begins in the
  /// white space which another one takes, the text goes on where it ends.
  std::vector<Piece> split(std::string_view text) const;

 private:
  struct Token {
    std::string content;
    std::uint32_t id;
    Sides sides;
  };
  /// The tokens by their first byte, longest first.
  std::vector<std::vector<Token>> tokens_ = std::vector<std::vector<Token>>(256);
};

}  // namespace tempera::gpu
