// Reads the finite-model format: what is there becomes tokens and rationals, which FiniteModel
// checks.
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/text_file.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::reference {
namespace {

constexpr std::size_t largest_file = std::size_t{16} << 20;

using nlohmann::json;

constexpr const char* form =
    "a finite model has the keys name, vocabulary, terminal, next, default and answers";
constexpr const char* row_form =
    "write a row as {\"token\": \"p/q\", ...}, probabilities as strings";

/// The tokens that joined by one space make `text`. `refusal` makes what is thrown for a word that
/// is none.
template <class Refusal>
std::vector<Token> tokens_of(const Vocabulary& vocabulary, std::string_view text,
                             const Refusal& refusal) {
  std::vector<Token> tokens;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word(text.substr(begin, end - begin));
    const auto token = vocabulary.find(word);
    if (!token) throw refusal(word);
    tokens.push_back(*token);
    begin = end + 1;
  }
  return tokens;
}

class FiniteModelReader {
 public:
  FiniteModelReader(const json& document, const std::string& source)
      : source_(source), document_(document, source, form) {}

  FiniteModel read() const {
    document_.check_keys({"name", "vocabulary", "terminal"}, {"next", "default", "answers"});
    FiniteModelParts parts{document_.text("name"), read_vocabulary(), {}, {}, {}};
    parts.terminal = read_terminal(parts.vocabulary);
    if (document_.has("next")) parts.next = read_next(parts.vocabulary);
    if (document_.has("default"))
      parts.default_row = read_row(parts.vocabulary, document_.at("default"), "\"default\"");
    if (document_.has("answers")) parts.answers = read_answers(parts.vocabulary);
    return {std::move(parts), source_};
  }

 private:
  BadInput wrong(const std::string& where, const std::string& what,
                 const std::string& remedy) const {
    return {source_, where + " " + what, remedy};
  }

  Vocabulary read_vocabulary() const { return {document_.texts("vocabulary"), source_}; }

  std::vector<Token> read_terminal(const Vocabulary& vocabulary) const {
    std::vector<Token> terminal;
    for (const std::string& text : document_.texts("terminal")) {
      const auto token = vocabulary.find(text);
      if (!token)
        throw wrong("\"terminal\"", "names " + in_quotes(text) + ", no token",
                    "list tokens of the vocabulary, each once");
      terminal.push_back(*token);
    }
    return terminal;
  }

  std::vector<Token> read_prefix(const Vocabulary& vocabulary, const std::string& text) const {
    return tokens_of(vocabulary, text, [&](const std::string& word) {
      return wrong("\"next\"[" + in_quotes(text) + "]", "has the unknown token " + in_quotes(word),
                   "a prefix is tokens of the vocabulary joined by one space");
    });
  }

  std::vector<std::vector<Token>> read_answers(const Vocabulary& vocabulary) const {
    std::vector<std::vector<Token>> answers;
    for (const std::string& text : document_.texts("answers"))
      answers.push_back(parse_answer(vocabulary, text, source_));
    if (answers.empty())
      throw wrong("\"answers\"", "is empty", "name how right records begin, or leave it out");
    return answers;
  }

  std::map<std::vector<Token>, TokenRow> read_next(const Vocabulary& vocabulary) const {
    const json& next = document_.at("next");
    if (!next.is_object()) throw wrong("\"next\"", "is not an object", "list rows by their prefix");
    check_row_entries(next.size(), vocabulary, source_);
    std::map<std::vector<Token>, TokenRow> rows;
    for (const auto& [text, row] : next.items())
      rows.emplace(read_prefix(vocabulary, text),
                   read_row(vocabulary, row, "\"next\"[" + in_quotes(text) + "]"));
    return rows;
  }

  TokenRow read_row(const Vocabulary& vocabulary, const json& row, const std::string& where) const {
    if (!row.is_object()) throw wrong(where, "is not an object", row_form);
    TokenRow probabilities(vocabulary.size());
    for (const auto& [text, entry] : row.items()) {
      const auto token = vocabulary.find(text);
      if (!token)
        throw wrong(where, "has the unknown token " + in_quotes(text),
                    "use tokens of the vocabulary");
      probabilities[*token] = read_probability(entry, where + "[" + in_quotes(text) + "]");
    }
    return probabilities;
  }

  Rational read_probability(const json& entry, const std::string& where) const {
    if (entry.is_string())
      return parse_rational(entry.get_ref<const std::string&>(), source_ + ": " + where);
    if (entry.is_number_unsigned()) return Rational(entry.get<std::uint64_t>());
    if (entry.is_number_integer()) return Rational(entry.get<std::int64_t>());
    throw wrong(where, entry.is_number() ? "is a binary floating-point number" : "is not a number",
                "write it as a string, \"1/4\" or \"0.25\"");
  }

  const std::string& source_;
  JsonObject document_;
};

}  // namespace

std::vector<Token> parse_answer(const Vocabulary& vocabulary, std::string_view text,
                                const std::string& where) {
  return tokens_of(vocabulary, text, [&](const std::string& word) {
    return BadInput(
        where,
        "the answer " + in_quotes(std::string(text)) + " has the unknown token " + in_quotes(word),
        "an answer is tokens of the vocabulary joined by one space");
  });
}

FiniteModel parse_finite_model(std::string_view text, const std::string& source) {
  const json document = parse_json(text, source);
  return FiniteModelReader(document, source).read();
}

FiniteModel load_finite_model(const std::string& path) {
  return parse_finite_model(
      read_text_file(path, "give the path of a finite-model JSON file", largest_file), path);
}

}  // namespace tempera::reference
