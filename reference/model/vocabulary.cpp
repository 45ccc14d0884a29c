#include "reference/model/vocabulary.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::reference {
namespace {

// A record is written as tokens joined by one space, a joint state as records joined by '|'.
bool separates_or_hides(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '|';
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens, const std::string& source)
    : tokens_(std::move(tokens)) {
  const char* remedy = "list the tokens as strings, each once";
  if (tokens_.empty()) throw BadInput(source, "\"vocabulary\" is not a list of tokens", remedy);
  for (std::size_t v = 0; v < tokens_.size(); ++v) {
    const std::string& text = tokens_[v];
    const std::string where = "\"vocabulary\"[" + std::to_string(v) + "] ";
    if (text.empty() || std::any_of(text.begin(), text.end(), separates_or_hides))
      throw BadInput(
          source,
          where + "(" + in_quotes(text) + ") is empty or has a space, '|' or control character",
          "use another spelling of the token");
    if (!token_of_.emplace(text, static_cast<Token>(v)).second)
      throw BadInput(source, where + "repeats the token " + in_quotes(text), remedy);
  }
}

std::optional<Token> Vocabulary::find(std::string_view text) const {
  const auto found = token_of_.find(text);
  if (found == token_of_.end()) return std::nullopt;
  return found->second;
}

std::string Vocabulary::join(std::span<const Token> tokens) const {
  std::string joined;
  for (const Token token : tokens) {
    if (!joined.empty()) joined += ' ';
    joined += tokens_[token];
  }
  return joined;
}

}  // namespace tempera::reference
