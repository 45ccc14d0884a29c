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
  /// Whether a token takes in the white space before it and after it: of the text between, and not
  /// what another token has taken.
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
  /// those that start at one place. Empty stretches are left out.
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
