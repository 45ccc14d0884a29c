#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/model/record.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// Next-token probabilities p0(v | h), one per token of the vocabulary, zeros included; sum 1.
using TokenRow = std::vector<Rational>;

/// An autoregressive model p0 given by finitely many rational rows. Every object of this type has
/// passed the checks listed at parse_finite_model.
class FiniteModel {
 public:
  const std::string& name() const { return name_; }
  /// The file (or other source) it was read from, for messages.
  const std::string& source() const { return source_; }
  const std::vector<std::string>& vocabulary() const { return vocabulary_; }
  std::size_t vocabulary_size() const { return vocabulary_.size(); }
  bool is_terminal(Token token) const { return terminal_[token]; }
  /// The token of that text, if the vocabulary has it.
  std::optional<Token> find_token(std::string_view text) const;

  /// p0(· | h) at an open history h. Throws BadInput when neither `next` nor `default` serves it.
  const TokenRow& token_row(std::span<const Token> history) const;
  /// The rows listed under `next`, in depth-first vocabulary order.
  const std::map<std::vector<Token>, TokenRow>& listed_rows() const { return next_; }
  /// The row that serves every history not listed.
  const std::optional<TokenRow>& default_row() const { return default_; }

  /// Tokens joined by one space.
  std::string text(std::span<const Token> tokens) const;

 private:
  friend class FiniteModelReader;
  FiniteModel() = default;

  std::string name_, source_;
  std::vector<std::string> vocabulary_;
  std::map<std::string, Token, std::less<>> token_of_;
  std::vector<bool> terminal_;
  std::map<std::vector<Token>, TokenRow> next_;
  std::optional<TokenRow> default_;
};

/// Reads the finite-model format (docs/exact.md). `source` names the file in messages.
/// Throws BadInput, naming file, place and remedy, for: malformed JSON (line and column), a key
/// unknown, missing or given twice, a value of the wrong type, an empty, repeated or unprintable
/// token, a terminal token or a row's token outside the vocabulary, a prefix listed twice or
/// continuing after a terminal token, a probability that is negative or no number, a row that does
/// not sum to one, no row for the empty prefix, and models of more than a million row entries.
FiniteModel parse_finite_model(std::string_view json, const std::string& source);

/// parse_finite_model of a file; also throws BadInput when it cannot be read or exceeds 16 MiB.
FiniteModel load_finite_model(const std::string& path);

}  // namespace tempera::reference
