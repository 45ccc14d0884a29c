#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::gpu {

/// A regular expression that cuts a text into pieces.
class SplitPattern {
 public:
  /// A piece that the expression matched, or one between two matches.
  struct Piece {
    std::string_view text;
    bool is_match;
  };

  /// Perl syntax over Unicode characters and their properties. `where` names the expression in
  /// errors; BadInput if it does not compile.
  SplitPattern(const std::string& expression, std::string where);

  /// The matches, leftmost first, and what is between them; together they are the text. After an
  /// empty match the search goes on one character later. Empty pieces are left out.
  /// `text` is well-formed UTF-8. BadInput if the expression takes too long on it.
  std::vector<Piece> split(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
  std::string where_;
};

}  // namespace tempera::gpu
