// Reads and checks the finite-model format.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "reference/bad_input.hpp"
#include "reference/in_quotes.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::reference {
namespace {

using nlohmann::json;

constexpr std::size_t row_entry_limit = 1'000'000;
constexpr std::size_t file_limit = 16 << 20;

std::string line_and_column(std::string_view text, std::size_t byte) {
  const auto before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto newline = before.rfind('\n');
  const auto column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// A JSON object keeps one of two equal keys without a word; a model file that has two is wrong.
class DuplicateKeyGuard {
 public:
  explicit DuplicateKeyGuard(const std::string& source) : source_(source) {}

  bool operator()(int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!open_.back().insert(key).second) {
        throw BadInput(source_, "the key " + in_quotes(key) + " is given twice in one object",
                       "keep one of the two");
      }
    }
    return true;
  }

 private:
  const std::string& source_;
  std::vector<std::set<std::string>> open_;
};

json parse_document(std::string_view text, const std::string& source) {
  try {
    // The callback is copied by the parser, so the guard lives outside it.
    DuplicateKeyGuard guard(source);
    return json::parse(text.begin(), text.end(),
                       [&guard](int depth, json::parse_event_t event, json& value) {
                         return guard(depth, event, value);
                       });
  } catch (const json::parse_error& error) {
    throw BadInput(source + ", " + line_and_column(text, error.byte), "malformed JSON",
                   "correct the syntax there");
  } catch (const json::out_of_range&) {
    throw BadInput(source, "a JSON number is too large to read",
                   "write probabilities as strings such as \"3/8\"");
  }
}

}  // namespace

/// Fills a FiniteModel from a JSON document, checking as it goes.
class FiniteModelReader {
 public:
  explicit FiniteModelReader(const std::string& source) { model_.source_ = source; }

  FiniteModel read(const json& document) {
    if (!document.is_object()) throw wrong("the file", "is not a JSON object", form);
    check_keys(document);
    read_name(document);
    read_vocabulary(document);
    read_terminal(document);
    if (const auto next = document.find("next"); next != document.end()) read_next(*next);
    if (const auto row = document.find("default"); row != document.end()) {
      model_.default_ = token_row(*row, "\"default\"");
    }
    if (!model_.default_ && !model_.next_.contains({})) {
      throw wrong("\"next\"", "has no row for the empty prefix and there is no \"default\"",
                  "add \"\" to \"next\" or give a \"default\" row");
    }
    return std::move(model_);
  }

 private:
  static constexpr const char* form =
      "a finite model has the keys name, vocabulary, terminal, next and default";
  static constexpr const char* row_form =
      "write a row as {\"token\": \"p/q\", ...}, probabilities as strings";

  BadInput wrong(const std::string& place, const std::string& what,
                 const std::string& remedy) const {
    return BadInput(model_.source_, place + " " + what, remedy);
  }

  void check_keys(const json& document) const {
    for (const auto& [key, value] : document.items()) {
      if (key != "name" && key != "vocabulary" && key != "terminal" && key != "next" &&
          key != "default") {
        throw wrong("the key " + in_quotes(key), "is unknown", form);
      }
    }
    for (const char* key : {"name", "vocabulary", "terminal"}) {
      if (!document.contains(key)) throw wrong("the key " + in_quotes(key), "is missing", form);
    }
  }

  void read_name(const json& document) {
    const json& name = document["name"];
    if (!name.is_string()) throw wrong("\"name\"", "is not a string", "write \"name\": \"...\"");
    model_.name_ = name.get<std::string>();
  }

  // A record is written as tokens joined by one space, a joint state as records joined by '|'.
  static bool separates_or_hides(char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '|';
  }

  void read_vocabulary(const json& document) {
    const json& vocabulary = document["vocabulary"];
    const char* remedy = "list the tokens as strings, each once";
    if (!vocabulary.is_array() || vocabulary.empty()) {
      throw wrong("\"vocabulary\"", "is not a list of tokens", remedy);
    }
    for (const json& entry : vocabulary) {
      const std::string place = "\"vocabulary\"[" + std::to_string(model_.vocabulary_.size()) + "]";
      if (!entry.is_string()) throw wrong(place, "is not a string", remedy);
      const auto& text = entry.get_ref<const std::string&>();
      if (text.empty() || std::any_of(text.begin(), text.end(), separates_or_hides)) {
        throw wrong(place,
                    "(" + in_quotes(text) + ") is empty or has a space, '|' or control character",
                    "use another spelling of the token");
      }
      const auto token = static_cast<Token>(model_.vocabulary_.size());
      if (!model_.token_of_.emplace(text, token).second) {
        throw wrong(place, "repeats the token " + in_quotes(text), remedy);
      }
      model_.vocabulary_.push_back(text);
    }
    model_.terminal_.assign(model_.vocabulary_.size(), false);
  }

  void read_terminal(const json& document) {
    const json& terminal = document["terminal"];
    const char* remedy = "list tokens of the vocabulary, each once";
    if (!terminal.is_array()) throw wrong("\"terminal\"", "is not a list of tokens", remedy);
    for (const json& entry : terminal) {
      if (!entry.is_string()) throw wrong("\"terminal\"", "has an entry that is no string", remedy);
      const auto& text = entry.get_ref<const std::string&>();
      const auto token = model_.find_token(text);
      if (!token) throw wrong("\"terminal\"", "names " + in_quotes(text) + ", no token", remedy);
      if (model_.terminal_[*token])
        throw wrong("\"terminal\"", "repeats " + in_quotes(text), remedy);
      model_.terminal_[*token] = true;
    }
  }

  std::vector<Token> prefix(const std::string& text) const {
    std::vector<Token> tokens;
    if (text.empty()) return tokens;
    const std::string place = "\"next\"[" + in_quotes(text) + "]";
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      const std::string word = text.substr(begin, end - begin);
      const auto token = model_.find_token(word);
      if (!token) {
        throw wrong(place, "has the unknown token " + in_quotes(word),
                    "a prefix is tokens of the vocabulary joined by one space");
      }
      if (!tokens.empty() && model_.is_terminal(tokens.back())) break;
      tokens.push_back(*token);
      begin = end + 1;
    }
    if (model_.is_terminal(tokens.back())) {
      throw wrong(
          place,
          "continues after the terminal token " + in_quotes(model_.vocabulary_[tokens.back()]),
          "remove the row: nothing follows a terminal token");
    }
    return tokens;
  }

  void read_next(const json& next) {
    if (!next.is_object()) throw wrong("\"next\"", "is not an object", "list rows by their prefix");
    if ((next.size() + 1) > row_entry_limit / model_.vocabulary_size()) {
      throw wrong("the model",
                  "has " + std::to_string(next.size()) + " rows of " +
                      std::to_string(model_.vocabulary_size()) + " tokens, more than " +
                      std::to_string(row_entry_limit) + " entries",
                  "use a smaller vocabulary or serve more prefixes by \"default\"");
    }
    for (const auto& [text, row] : next.items()) {
      model_.next_.emplace(prefix(text), token_row(row, "\"next\"[" + in_quotes(text) + "]"));
    }
  }

  TokenRow token_row(const json& row, const std::string& place) const {
    if (!row.is_object()) throw wrong(place, "is not an object", row_form);
    TokenRow probabilities(model_.vocabulary_size());
    Rational total = 0;
    for (const auto& [text, entry] : row.items()) {
      const auto token = model_.find_token(text);
      if (!token) {
        throw wrong(place, "has the unknown token " + in_quotes(text),
                    "use tokens of the vocabulary");
      }
      probabilities[*token] = probability(entry, place + "[" + in_quotes(text) + "]");
      total += probabilities[*token];
    }
    if (total != 1) {
      const std::string sum = to_string(total);
      throw wrong(
          place,
          "sums to " + (sum.size() <= 60 ? sum : "about " + to_decimal(total, 12)) + ", not to 1",
          "correct its probabilities");
    }
    return probabilities;
  }

  Rational probability(const json& entry, const std::string& place) const {
    Rational value;
    if (entry.is_string()) {
      value = parse_rational(entry.get_ref<const std::string&>(), model_.source_ + ": " + place);
    } else if (entry.is_number_unsigned()) {
      value = Rational(entry.get<std::uint64_t>());
    } else if (entry.is_number_integer()) {
      value = Rational(entry.get<std::int64_t>());
    } else {
      throw wrong(place, entry.is_number() ? "is a binary floating-point number" : "is no number",
                  "write it as a string, \"1/4\" or \"0.25\"");
    }
    if (value < 0) throw wrong(place, "is negative", "probabilities are at least 0");
    return value;
  }

  FiniteModel model_;
};

FiniteModel parse_finite_model(std::string_view text, const std::string& source) {
  return FiniteModelReader(source).read(parse_document(text, source));
}

FiniteModel load_finite_model(const std::string& path) {
  const char* remedy = "give the path of a finite-model JSON file";
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> chunk(1 << 16);
  while (file && text.size() <= file_limit) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > file_limit) throw BadInput(path, "has more than 16 MiB", remedy);
  if (!file.eof()) throw BadInput(path, "cannot be read", remedy);
  return parse_finite_model(text, path);
}

}  // namespace tempera::reference
