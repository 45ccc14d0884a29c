#include "reference/model/finite_model.hpp"

#include "reference/bad_input.hpp"
#include "reference/in_quotes.hpp"

namespace tempera::reference {

std::optional<Token> FiniteModel::find_token(std::string_view text) const {
  const auto found = token_of_.find(text);
  if (found == token_of_.end()) return std::nullopt;
  return found->second;
}

const TokenRow& FiniteModel::token_row(std::span<const Token> history) const {
  const auto found = next_.find(std::vector<Token>(history.begin(), history.end()));
  if (found != next_.end()) return found->second;
  if (default_) return *default_;
  throw BadInput(source_,
                 "the prefix " + in_quotes(text(history)) + " can be reached but has no row",
                 "list it under \"next\" or give a \"default\" row");
}

std::string FiniteModel::text(std::span<const Token> tokens) const {
  std::string joined;
  for (const Token token : tokens) {
    if (!joined.empty()) joined += ' ';
    joined += vocabulary_[token];
  }
  return joined;
}

}  // namespace tempera::reference
