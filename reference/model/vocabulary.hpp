#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/model/record.hpp"

namespace tempera::reference {

/// The tokens of a model by their spelling, in order.
class Vocabulary {
 public:
  /// @throw BadInput, naming `source` and the token's place, if there are none, or one is empty,
  /// has a space, '|' or a control character (which separate tokens and records), or is repeated
  Vocabulary(std::vector<std::string> tokens, const std::string& source);

  std::size_t size() const { return tokens_.size(); }
  const std::vector<std::string>& tokens() const { return tokens_; }
  /// The token of that spelling, if there is one.
  std::optional<Token> find(std::string_view text) const;
  /// Tokens joined by one space.
  std::string join(std::span<const Token> tokens) const;

 private:
  std::vector<std::string> tokens_;
  std::map<std::string, Token, std::less<>> token_of_;
};

}  // namespace tempera::reference
