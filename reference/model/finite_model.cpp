#include "reference/model/finite_model.hpp"

#include <algorithm>

#include "base/in_quotes.hpp"

namespace tempera::reference {
namespace {

// Shown if a history cannot be written because it has no such token.
std::string number_of(Token token) { return "token number " + std::to_string(token); }

}  // namespace

void check_row_entries(std::size_t rows, const Vocabulary& vocabulary, const std::string& source) {
  if (rows + 1 <= row_entry_limit / vocabulary.size()) return;
  throw BadInput(source,
                 "the model has " + std::to_string(rows) + " rows of " +
                     std::to_string(vocabulary.size()) + " tokens, more than " +
                     std::to_string(row_entry_limit) + " entries",
                 "use a smaller vocabulary or serve more prefixes by \"default\"");
}

FiniteModel::FiniteModel(FiniteModelParts parts, std::string source)
    : parts_(std::move(parts)),
      source_(std::move(source)),
      terminal_(parts_.vocabulary.size(), false) {
  check_row_entries(parts_.next.size(), parts_.vocabulary, source_);
  check_terminal();
  for (const auto& [history, row] : parts_.next) {
    check_history(history);
    check_row(row, &history);
    if (lists_length_.size() <= history.size()) lists_length_.resize(history.size() + 1);
    lists_length_[history.size()] = true;
  }
  if (parts_.default_row) check_row(*parts_.default_row, nullptr);
  if (!parts_.default_row && !parts_.next.contains({}))
    throw wrong("\"next\"", "has no row for the empty prefix and there is no \"default\"",
                "add \"\" to \"next\" or give a \"default\" row");
  check_answers(source_);
}

BadInput FiniteModel::wrong(const std::string& where, const std::string& what,
                            const std::string& remedy) const {
  return {source_, where + " " + what, remedy};
}

void FiniteModel::check_terminal() {
  const char* remedy = "list tokens of the vocabulary, each once";
  for (const Token token : parts_.terminal) {
    if (token >= vocabulary_size())
      throw wrong("\"terminal\"", "names " + number_of(token) + ", no token", remedy);
    if (terminal_[token])
      throw wrong("\"terminal\"", "repeats " + in_quotes(vocabulary()[token]), remedy);
    terminal_[token] = true;
  }
}

void FiniteModel::check_history(const std::vector<Token>& history) const {
  for (const Token token : history)
    if (token >= vocabulary_size())
      throw wrong("\"next\"", "has a prefix with the unknown " + number_of(token),
                  "a prefix is tokens of the vocabulary");
  for (const Token token : history)
    if (is_terminal(token))
      throw wrong("\"next\"[" + in_quotes(text(history)) + "]",
                  "continues after the terminal token " + in_quotes(vocabulary()[token]),
                  "remove the row: nothing follows a terminal token");
}

// The row of a history, or the default's.
void FiniteModel::check_row(const TokenRow& row, const std::vector<Token>* history) const {
  const auto where = [&] {
    return history ? "\"next\"[" + in_quotes(text(*history)) + "]" : std::string("\"default\"");
  };
  if (row.size() != vocabulary_size())
    throw wrong(where(),
                "has " + std::to_string(row.size()) + " probabilities for " +
                    std::to_string(vocabulary_size()) + " tokens",
                "give one for each, zeros too");
  Rational total = 0;
  for (Token token = 0; token < row.size(); ++token) {
    if (row[token] < 0)
      throw wrong(where() + "[" + in_quotes(vocabulary()[token]) + "]", "is negative",
                  "probabilities are at least 0");
    total += row[token];
  }
  if (total == 1) return;
  const std::string sum = to_string(total);
  throw wrong(
      where(),
      "sums to " + (sum.size() <= 60 ? sum : "about " + to_decimal(total, 12)) + ", not to 1",
      "correct its probabilities");
}

void FiniteModel::check_answers(const std::string& where) const {
  const auto refuse = [&](const std::vector<Token>& answer, const std::string& what,
                          const std::string& remedy) {
    throw BadInput(where, "the answer " + in_quotes(text(answer)) + " " + what, remedy);
  };
  for (const auto& answer : parts_.answers)
    if (answer.empty()) refuse(answer, "is empty", "every record would be right: name some");
  for (std::size_t i = 0; i < parts_.answers.size(); ++i) {
    const auto& answer = parts_.answers[i];
    for (const Token token : answer)
      if (token >= vocabulary_size())
        refuse({}, "has the unknown " + number_of(token), "an answer is tokens of the vocabulary");
    for (std::size_t t = 0; t < answer.size(); ++t) {
      const std::span before = std::span(answer).first(t);
      if (t > 0 && is_terminal(answer[t - 1]))
        refuse(answer, "continues after a terminal token", "end it there");
      if (token_row(before)[answer[t]] == 0)
        refuse(answer, "has probability 0", "name tokens that the model gives");
    }
    for (std::size_t j = 0; j < parts_.answers.size(); ++j) {
      const auto& other = parts_.answers[j];
      if (j != i && other.size() <= answer.size() &&
          std::equal(other.begin(), other.end(), answer.begin()))
        refuse(answer, "begins with the answer " + in_quotes(text(other)), "leave it out");
    }
  }
}

bool FiniteModel::is_answer(std::span<const Token> tokens) const {
  return std::any_of(parts_.answers.begin(), parts_.answers.end(), [&](const auto& answer) {
    return answer.size() <= tokens.size() &&
           std::equal(answer.begin(), answer.end(), tokens.begin());
  });
}

FiniteModel FiniteModel::with_answers(std::string_view list, const std::string& where) const {
  FiniteModel other = *this;
  other.parts_.answers.clear();
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find('|', begin), list.size());
    other.parts_.answers.push_back(
        parse_answer(parts_.vocabulary, list.substr(begin, end - begin), where));
    begin = end + 1;
  }
  other.check_answers(where);
  return other;
}

const TokenRow& FiniteModel::token_row(std::span<const Token> history) const {
  if (history.size() < lists_length_.size() && lists_length_[history.size()]) {
    const auto found = parts_.next.find(std::vector<Token>(history.begin(), history.end()));
    if (found != parts_.next.end()) return found->second;
  }
  if (parts_.default_row) return *parts_.default_row;
  throw wrong("the prefix " + in_quotes(text(history)), "can be reached but has no row",
              "list it under \"next\" or give a \"default\" row");
}

}  // namespace tempera::reference
