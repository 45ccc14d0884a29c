#include "reference/model/record_tree.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "reference/model/record_count.hpp"

namespace tempera::reference {
namespace {

void refuse_above_limits(const FiniteModel& model, std::size_t horizon) {
  const char* remedy = "use a smaller horizon or model";
  if (horizon == 0) throw BadInput("horizon", "is 0", "give a horizon of at least 1 token");
  const Integer records = count_fixed_horizon_records(model, horizon);
  const std::string asked = "horizon " + std::to_string(horizon) + " gives ";
  const std::string size = records.str();
  const std::string shown =
      size.size() <= 15 ? size : "more than 10^" + std::to_string(size.size() - 1);
  if (records > tree_record_limit)
    throw BadInput(
        model.source(),
        asked + shown + " records, more than the limit of " + std::to_string(tree_record_limit),
        remedy);
  if (records * horizon > tree_position_limit)
    throw BadInput(model.source(),
                   asked + shown + " records of that length, more than " +
                       std::to_string(tree_position_limit) + " positions in all",
                   remedy);
}

}  // namespace

RecordTree::RecordTree(const FiniteModel& model, std::size_t horizon)
    : model_(model), horizon_(horizon) {
  refuse_above_limits(model, horizon);
  std::vector<Token> tokens;
  prefixes_.push_back({0, 0, 0, 0, 0, likelihoods_.of(1), row_after(tokens)});
  extend(tokens, 0);
}

RecordTree::Index RecordTree::row_after(const std::vector<Token>& tokens) {
  const TokenRow* row = &model_.token_row(tokens);
  const auto [known, is_new] = row_ids_.try_emplace(row, static_cast<Index>(rows_.size()));
  if (is_new) {
    rows_.push_back(row);
    auto& factors = factors_.emplace_back();
    // No record has a token of probability 0.
    for (const Rational& probability : *row)
      factors.push_back(likelihoods_.of(probability == 0 ? Rational(1) : probability));
  }
  return known->second;
}

void RecordTree::extend(std::vector<Token>& tokens, Index prefix) {
  const Index row = prefixes_[prefix].row;
  const Index before = prefixes_[prefix].likelihood;
  prefixes_[prefix].begin = static_cast<Index>(parents_.size());
  for (Token token = 0; token < rows_[row]->size(); ++token) {
    if ((*rows_[row])[token] == 0) continue;
    const Index likelihood = likelihoods_.product(before, factors_[row][token]);
    if (model_.is_terminal(token) || tokens.size() + 1 == horizon_) {
      parents_.push_back(prefix);
      last_.push_back(token);
      record_likelihoods_.push_back(likelihood);
      continue;
    }
    tokens.push_back(token);
    const auto longer = static_cast<Index>(prefixes_.size());
    const auto depth = static_cast<Index>(tokens.size());
    prefixes_.push_back({prefix, token, depth, 0, 0, likelihood, row_after(tokens)});
    extend(tokens, longer);
    tokens.pop_back();
  }
  prefixes_[prefix].end = static_cast<Index>(parents_.size());
}

std::string RecordTree::name(std::size_t x) const {
  std::vector<Token> tokens{last_[x]};
  for (Index prefix = parents_[x]; prefix != 0; prefix = prefixes_[prefix].parent)
    tokens.push_back(prefixes_[prefix].last);
  std::reverse(tokens.begin(), tokens.end());
  return model_.text(tokens);
}

std::size_t RecordTree::parse(std::string_view text, const std::string& where) const {
  const auto no_state = [&](const std::string& what, const std::string& remedy) {
    return BadInput(where, "the record " + in_quotes(text) + " " + what, remedy);
  };
  // The records that begin with the tokens read so far, which are side by side.
  std::size_t begin = 0, end = size(), tokens = 0;
  for (std::size_t from = 0; from <= text.size() && !text.empty(); ++tokens) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    const auto token = model_.find_token(text.substr(from, to - from));
    if (!token)
      throw no_state("has the unknown token " + in_quotes(text.substr(from, to - from)),
                     "join tokens of the vocabulary by one space");
    const auto at = [&](std::size_t x) -> std::optional<Token> {
      if (tokens >= length(x)) return std::nullopt;
      if (tokens + 1 == length(x)) return last_[x];
      Index prefix = parents_[x];
      while (prefixes_[prefix].depth > tokens + 1) prefix = prefixes_[prefix].parent;
      return prefixes_[prefix].last;
    };
    while (begin < end && at(begin) != token) ++begin;
    std::size_t last = begin;
    while (last < end && at(last) == token) ++last;
    end = last;
    from = to + 1;
  }
  if (begin == end) throw no_state("has probability zero", "start from a supported record");
  if (end - begin != 1 || length(begin) != tokens)
    throw no_state("has the wrong length for horizon " + std::to_string(horizon_),
                   "end it with a terminal token or give " + std::to_string(horizon_) + " tokens");
  return begin;
}

}  // namespace tempera::reference
