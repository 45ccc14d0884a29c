#include "reference/model/record_space.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "reference/model/record_count.hpp"

namespace tempera::reference {
namespace {

void refuse_above_limit(const FiniteModel& model, std::size_t horizon, const Integer& records,
                        std::size_t limit = record_limit) {
  if (records <= limit) return;
  const std::string size = records.str();
  throw BadInput(
      model.source(),
      "horizon " + std::to_string(horizon) + " gives " +
          (size.size() <= 15 ? size : "more than 10^" + std::to_string(size.size() - 1)) +
          " records, more than the limit of " + std::to_string(limit),
      "use a smaller horizon or model");
}

// Calls visit(tokens, terminated, likelihood) for every supported record of length 1..horizon,
// depth-first in vocabulary order.
template <class Visit>
void visit_supported(const FiniteModel& model, std::size_t horizon, std::vector<Token>& prefix,
                     const Rational& likelihood, const Visit& visit) {
  if (prefix.size() == horizon) return;
  const TokenRow& row = model.token_row(prefix);
  for (Token token = 0; token < row.size(); ++token) {
    if (row[token] == 0) continue;
    const Rational extended = likelihood * row[token];
    prefix.push_back(token);
    visit(prefix, model.is_terminal(token), extended);
    if (!model.is_terminal(token)) visit_supported(model, horizon, prefix, extended, visit);
    prefix.pop_back();
  }
}

}  // namespace

std::vector<std::string> RecordSpace::names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < size(); ++i) names.push_back(name(i));
  return names;
}

std::optional<std::size_t> RecordSpace::find(std::span<const Token> tokens) const {
  // Depth-first vocabulary order is the lexicographic order of the token sequences.
  const auto found = std::lower_bound(
      records_.begin(), records_.end(), tokens, [](const Record& record, auto sought) {
        return std::lexicographical_compare(record.tokens.begin(), record.tokens.end(),
                                            sought.begin(), sought.end());
      });
  if (found == records_.end() ||
      !std::equal(tokens.begin(), tokens.end(), found->tokens.begin(), found->tokens.end())) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - records_.begin());
}

std::size_t RecordSpace::parse(std::string_view text, const std::string& where) const {
  const std::string shown = "the record " + in_quotes(text);
  std::vector<Token> tokens;
  bool terminated = false;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const auto token = model_.find_token(text.substr(begin, end - begin));
    if (!token) {
      throw BadInput(where,
                     shown + " has the unknown token " + in_quotes(text.substr(begin, end - begin)),
                     "join tokens of the vocabulary by one space");
    }
    if (terminated) {
      throw BadInput(where, shown + " continues after a terminal token", "stop it there");
    }
    tokens.push_back(*token);
    terminated = model_.is_terminal(*token);
    begin = end + 1;
  }
  if (tokens.size() > horizon_ || (!terminated && !admits_open_records_of(tokens.size()))) {
    throw BadInput(where, shown + " has the wrong length for horizon " + std::to_string(horizon_),
                   "end it with a terminal token or give " + std::to_string(horizon_) + " tokens");
  }
  const auto index = find(tokens);
  if (!index) {
    throw BadInput(where, shown + " has probability zero", "start from a supported record");
  }
  return *index;
}

void RecordSpace::append(const std::vector<Token>& tokens, bool terminated,
                         const Rational& likelihood) {
  records_.push_back({tokens, terminated});
  likelihoods_.push_back(likelihood);
}

FixedHorizonSpace::FixedHorizonSpace(const FiniteModel& model, std::size_t horizon)
    : RecordSpace(model, horizon) {
  refuse_above_limit(model, horizon, count_fixed_horizon_records(model, horizon));
  std::vector<Token> prefix;
  if (horizon == 0) append(prefix, false, 1);
  visit_supported(model, horizon, prefix, 1,
                  [&](const auto& tokens, bool terminated, const Rational& likelihood) {
                    if (terminated || tokens.size() == horizon) {
                      append(tokens, terminated, likelihood);
                    }
                  });
}

ComparisonSpace::ComparisonSpace(const FiniteModel& model, std::size_t horizon, std::size_t limit)
    : RecordSpace(model, horizon) {
  refuse_above_limit(model, horizon, count_comparison_records(model, horizon), limit);
  std::vector<Token> prefix;
  visit_supported(model, horizon, prefix, 1,
                  [&](const auto& tokens, bool terminated, const Rational& likelihood) {
                    append(tokens, terminated, likelihood);
                  });
}

}  // namespace tempera::reference
