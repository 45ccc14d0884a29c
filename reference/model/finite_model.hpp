#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "reference/model/record.hpp"
#include "reference/model/vocabulary.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// Next-token probabilities p0(v | h), one per token of the vocabulary, zeros included; sum 1.
using TokenRow = std::vector<Rational>;

/// The most row entries (rows times tokens) of a model.
inline constexpr std::size_t row_entry_limit = 1'000'000;

/// What a finite model is made of, unchecked.
struct FiniteModelParts {
  std::string name;
  Vocabulary vocabulary;
  std::vector<Token> terminal;                  ///< E
  std::map<std::vector<Token>, TokenRow> next;  ///< rows by history, in depth-first order
  std::optional<TokenRow> default_row;          ///< serves every history that is not listed
  /// The answer set: records that begin with one of these. None: the model tells no right records.
  std::vector<std::vector<Token>> answers = {};
};

/// An autoregressive model p0 given by finitely many rational rows.
class FiniteModel {
 public:
  /// `source` is the file (or other origin), for messages.
  /// @throw BadInput, naming source, place and remedy, for a terminal token outside the vocabulary
  /// or given twice, a history with such a token or continuing after a terminal one, a row of the
  /// wrong length, with a negative probability or a sum other than one, no row for the empty
  /// history, more than row_entry_limit entries, and an answer that is empty, of probability 0 or
  /// begins as another one
  FiniteModel(FiniteModelParts parts, std::string source);

  const std::string& name() const { return parts_.name; }
  const std::string& source() const { return source_; }
  const std::vector<std::string>& vocabulary() const { return parts_.vocabulary.tokens(); }
  std::size_t vocabulary_size() const { return parts_.vocabulary.size(); }
  bool is_terminal(Token token) const { return terminal_[token]; }
  /// The token of that text, if the vocabulary has it.
  std::optional<Token> find_token(std::string_view text) const {
    return parts_.vocabulary.find(text);
  }

  /// p0(· | h) at an open history h. The time does not grow with |h| if no history of that
  /// length is listed.
  /// @throw BadInput if neither a listed row nor the default serves it
  const TokenRow& token_row(std::span<const Token> history) const;
  /// The rows listed by their history, in depth-first vocabulary order.
  const std::map<std::vector<Token>, TokenRow>& listed_rows() const { return parts_.next; }
  /// The row that serves every history not listed.
  const std::optional<TokenRow>& default_row() const { return parts_.default_row; }
  /// How the records of the answer set begin; empty if the model names none.
  const std::vector<std::vector<Token>>& answers() const { return parts_.answers; }
  /// Whether the record with these generated tokens is in the answer set.
  bool is_answer(std::span<const Token> tokens) const;
  /// The model with another answer set: `list` holds answers, each its tokens joined by one space,
  /// separated by '|'. `where` names the flag in messages.
  /// @throw BadInput for an unknown token, and whatever the constructor refuses of an answer
  FiniteModel with_answers(std::string_view list, const std::string& where) const;

  /// Tokens joined by one space.
  std::string text(std::span<const Token> tokens) const { return parts_.vocabulary.join(tokens); }

 private:
  BadInput wrong(const std::string& where, const std::string& what,
                 const std::string& remedy) const;
  void check_terminal();
  void check_history(const std::vector<Token>& history) const;
  void check_row(const TokenRow& row, const std::vector<Token>* history) const;
  void check_answers(const std::string& where) const;

  FiniteModelParts parts_;
  std::string source_;
  std::vector<bool> terminal_;
  std::vector<bool> lists_length_;  // whether a history of that length is listed
};

/// Refuses a model of `rows` listed rows by its size alone, before they are built.
/// @throw BadInput if it has more than row_entry_limit entries
void check_row_entries(std::size_t rows, const Vocabulary& vocabulary, const std::string& source);

/// The tokens of an answer, which joined by one space make `text`. `where` is the file or flag, for
/// messages.
/// @throw BadInput if the vocabulary lacks one
std::vector<Token> parse_answer(const Vocabulary& vocabulary, std::string_view text,
                                const std::string& where);

/// Reads the finite-model format (docs/reference/exact.md). `source` names the file in messages.
/// @throw BadInput, naming file, place and remedy, for malformed JSON (line and column), a key
/// unknown, missing or given twice, a value of the wrong type, a token outside the vocabulary, a
/// probability that is no number, and whatever Vocabulary and FiniteModel refuse
FiniteModel parse_finite_model(std::string_view json, const std::string& source);

/// parse_finite_model of a file.
/// @throw BadInput also if it cannot be read or exceeds 16 MiB
FiniteModel load_finite_model(const std::string& path);

}  // namespace tempera::reference
