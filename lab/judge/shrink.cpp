#include "lab/judge/shrink.hpp"

#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.hpp"

namespace tempera::lab {
namespace {

using reference::FiniteModel;
using reference::FiniteModelParts;
using reference::Integer;
using reference::Rational;
using reference::Token;
using reference::TokenRow;

FiniteModelParts parts_of(const FiniteModel& model) {
  FiniteModelParts parts{model.name(), {model.vocabulary(), model.source()}, {}, {}, {}};
  for (Token v = 0; v < model.vocabulary_size(); ++v)
    if (model.is_terminal(v)) parts.terminal.push_back(v);
  parts.next = model.listed_rows();
  parts.default_row = model.default_row();
  return parts;
}

/// A row without one token, what is left in proportion; nothing if nothing is left.
std::optional<TokenRow> without(const TokenRow& row, Token token) {
  if (row[token] == 1) return std::nullopt;
  TokenRow rest = row;
  for (Rational& probability : rest) probability /= 1 - row[token];
  rest[token] = 0;
  return rest;
}

/// Over the tokens that a row has: the first with `of_first` shares, every other with one.
TokenRow simple_row(const TokenRow& row, int of_first) {
  TokenRow simple(row.size());
  Rational total = 0;
  for (Token v = 0; v < row.size(); ++v) {
    if (row[v] == 0) continue;
    simple[v] = total == 0 ? of_first : 1;
    total += simple[v];
  }
  for (Rational& probability : simple) probability /= total;
  return simple;
}

std::vector<TokenRow> simpler_rows(const TokenRow& row) {
  std::vector<TokenRow> simpler;
  for (Token v = 0; v < row.size(); ++v)
    if (row[v] != 0)
      if (auto rest = without(row, v)) simpler.push_back(std::move(*rest));
  simpler.push_back(simple_row(row, 1));
  simpler.push_back(simple_row(row, 2));
  return simpler;
}

std::optional<FiniteModelParts> without_token(const FiniteModel& model, Token token) {
  if (model.vocabulary_size() == 1) return std::nullopt;
  const FiniteModelParts whole = parts_of(model);
  std::vector<std::string> names = model.vocabulary();
  names.erase(names.begin() + token);
  FiniteModelParts parts{model.name(), {names, model.source()}, {}, {}, {}};
  const auto renumbered = [&](Token v) { return v > token ? v - 1 : v; };
  const auto shorter = [&](const TokenRow& row) -> std::optional<TokenRow> {
    auto rest = without(row, token);
    if (rest) rest->erase(rest->begin() + token);
    return rest;
  };
  for (const Token v : whole.terminal)
    if (v != token) parts.terminal.push_back(renumbered(v));
  for (const auto& [history, row] : whole.next) {
    std::vector<Token> tokens;
    bool is_there = true;
    for (const Token v : history) {
      is_there = is_there && v != token;
      tokens.push_back(renumbered(v));
    }
    if (!is_there) continue;
    const auto rest = shorter(row);
    if (!rest) return std::nullopt;
    parts.next.emplace(std::move(tokens), *rest);
  }
  if (whole.default_row) {
    parts.default_row = shorter(*whole.default_row);
    if (!parts.default_row) return std::nullopt;
  }
  return parts;
}

/// What becomes less from one model to the next: tokens, rows, tokens of rows, the numbers.
auto size_of(const FiniteModel& model) {
  std::size_t rows = 0, entries = 0;
  Integer numbers = 0;
  const auto count = [&](const TokenRow& row) {
    ++rows;
    for (const Rational& probability : row) {
      if (probability == 0) continue;
      ++entries;
      numbers += numerator(probability) + denominator(probability);
    }
  };
  for (const auto& [history, row] : model.listed_rows()) count(row);
  if (model.default_row()) count(*model.default_row());
  return std::tuple(model.vocabulary_size(), rows, entries, numbers);
}

/// And from one case to the next: states, then tokens of all of them, then the model.
auto size_of(const JudgedCase& judged) {
  std::size_t tokens = 0;
  for (std::size_t s = 0; s < judged.size(); ++s) tokens += judged.tokens(s);
  return std::tuple(judged.size(), tokens, size_of(judged.model()));
}

}  // namespace

std::vector<FiniteModel> smaller_models(const FiniteModel& model) {
  std::vector<FiniteModel> smaller;
  // A model that lacks a row somewhere refuses when it is asked for it, and is no case then.
  const auto offer = [&](FiniteModelParts parts) {
    try {
      FiniteModel offered(std::move(parts), model.source());
      if (size_of(offered) < size_of(model)) smaller.push_back(std::move(offered));
    } catch (const BadInput&) {
      return;
    }
  };
  for (Token v = 0; v < model.vocabulary_size(); ++v)
    if (auto parts = without_token(model, v)) offer(std::move(*parts));
  if (model.default_row() && !model.listed_rows().empty()) {
    FiniteModelParts parts = parts_of(model);
    parts.next.clear();
    offer(std::move(parts));
  }
  for (const auto& [history, row] : model.listed_rows()) {
    FiniteModelParts parts = parts_of(model);
    parts.next.erase(history);
    offer(parts);
    for (const TokenRow& simpler : simpler_rows(row)) {
      parts.next[history] = simpler;
      offer(parts);
    }
  }
  if (model.default_row()) {
    FiniteModelParts parts = parts_of(model);
    if (!parts.next.empty()) {
      parts.default_row.reset();
      offer(parts);
    }
    for (const TokenRow& simpler : simpler_rows(*model.default_row())) {
      parts.default_row = simpler;
      offer(parts);
    }
  }
  return smaller;
}

std::size_t shrink_case(JudgedCase& smallest, const std::function<bool(const JudgedCase&)>& fails,
                        std::chrono::duration<double> time) {
  const auto begin = std::chrono::steady_clock::now();
  std::size_t tried = 0;
  bool is_over = false;
  const auto fails_on = [&](const FiniteModel& model, std::size_t horizon) {
    is_over = is_over || std::chrono::steady_clock::now() - begin > time;
    if (is_over) return false;
    try {
      JudgedCase candidate(model, horizon, smallest.target());
      if (!(size_of(candidate) < size_of(smallest))) return false;
      ++tried;
      if (!fails(candidate)) return false;
      smallest = std::move(candidate);
      return true;
    } catch (const BadInput&) {
      return false;
    } catch (const TimeIsOver&) {
      is_over = true;
      return false;
    }
  };
  for (bool is_smaller = true; is_smaller && !is_over;) {
    const FiniteModel model = smallest.model();
    const std::size_t horizon = smallest.horizon();
    is_smaller = horizon > 1 && fails_on(model, horizon - 1);
    if (is_smaller) continue;
    for (const FiniteModel& candidate : smaller_models(model)) {
      is_smaller = fails_on(candidate, horizon);
      if (is_smaller || is_over) break;
    }
  }
  return tried;
}

FailingCase shrink(const JudgedKernel& kernel, const JudgedCase& failing, const Rational& rounding,
                   std::chrono::duration<double> time) {
  FailingCase smallest{failing, judge_kernel(kernel, failing, rounding), 1};
  if (smallest.verdict.sound()) throw Bug("there is nothing to shrink");
  smallest.tried += shrink_case(
      smallest.judged,
      [&](const JudgedCase& candidate) {
        KernelVerdict verdict = judge_kernel(kernel, candidate, rounding);
        // Simpler, not another failure: what went wrong must go wrong still.
        const bool is_same = smallest.verdict.escape  ? verdict.escape.has_value()
                             : smallest.verdict.moved ? verdict.stochastic() && verdict.moved
                                                      : !verdict.sound();
        if (is_same) smallest.verdict = std::move(verdict);
        return is_same;
      },
      time);
  return smallest;
}

std::string model_json(const FiniteModel& model) {
  nlohmann::ordered_json json{{"name", model.name()}, {"vocabulary", model.vocabulary()}};
  json["terminal"] = nlohmann::ordered_json::array();
  for (Token v = 0; v < model.vocabulary_size(); ++v)
    if (model.is_terminal(v)) json["terminal"].push_back(model.vocabulary()[v]);
  const auto row_json = [&](const TokenRow& row) {
    auto object = nlohmann::ordered_json::object();
    for (Token v = 0; v < row.size(); ++v)
      if (row[v] != 0) object[model.vocabulary()[v]] = reference::to_string(row[v]);
    return object;
  };
  if (!model.listed_rows().empty()) json["next"] = nlohmann::ordered_json::object();
  for (const auto& [history, row] : model.listed_rows())
    json["next"][model.text(history)] = row_json(row);
  if (model.default_row()) json["default"] = row_json(*model.default_row());
  return json.dump();
}

}  // namespace tempera::lab
