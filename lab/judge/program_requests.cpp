#include "lab/judge/program_requests.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "lab/enumerate/real.hpp"
#include "reference/numbers/common_denominator.hpp"

namespace tempera::lab {
namespace {

using nlohmann::json;
using reference::Integer;
using reference::Rational;
using reference::Token;
using reference::TokenRow;

constexpr const char* protocol = "see docs/howto/check_protocol.md";
constexpr std::size_t most_tickets = 1'000'000;

/// An integer as JSON writes it, however long.
std::string list_of(const std::vector<Integer>& values) {
  std::string list;
  for (const Integer& value : values) list += (list.empty() ? "" : ",") + value.str();
  return "[" + list + "]";
}

json fractions_of(const TokenRow& row) {
  json fractions = json::array();
  for (const Rational& probability : row) fractions.push_back(reference::to_string(probability));
  return fractions;
}

}  // namespace

json state_json(const JudgedState& state) {
  return state.size() == 1 ? json(state.front()) : json(state);
}

std::string greeting_of(const JudgedCase& judged, const std::vector<reference::Power>& powers,
                        bool is_whole, const Rational& cut) {
  const auto& model = judged.model();
  json terminal = json::array();
  for (Token v = 0; v < model.vocabulary_size(); ++v)
    if (model.is_terminal(v)) terminal.push_back(v);
  json greeting{{"tempera", 1},
                {"vocabulary", model.vocabulary()},
                {"terminal", terminal},
                {"horizon", judged.horizon()}};
  greeting["powers"] = json::array();
  for (const auto& power : powers)
    greeting["powers"].push_back(reference::to_string(power.value()));
  greeting["rows"] = json::array();
  for (const auto& [prefix, row] : model.listed_rows())
    greeting["rows"].push_back({json(prefix), fractions_of(row)});
  greeting["default"] = model.default_row() ? fractions_of(*model.default_row()) : json(nullptr);
  if (is_whole) greeting["whole"] = true;
  if (cut != 0) greeting["cut"] = reference::to_string(cut);
  return greeting.dump();
}

void ProgramRequests::refuse(const std::string& line, const std::string& what) const {
  program_.refuse("writes " + in_quotes(line) + ", " + what, protocol);
}

json ProgramRequests::parse(const std::string& line) const {
  json value;
  try {
    value = parse_json(line, "");
  } catch (const BadInput&) {
    refuse(line, "which is not JSON");
  }
  if (!value.is_object() || value.empty()) refuse(line, "which is not a request");
  return value;
}

std::vector<Token> ProgramRequests::tokens_of(const json& value, const std::string& line) const {
  if (!value.is_array()) refuse(line, "which is not a list of token numbers");
  std::vector<Token> tokens;
  for (const json& token : value) {
    if (!token.is_number_unsigned() || token.get<std::uint64_t>() > UINT32_MAX)
      refuse(line, "which is not a list of token numbers");
    tokens.push_back(token.get<Token>());
  }
  return tokens;
}

const TokenRow& ProgramRequests::row_after(const json& value, const std::string& line) const {
  const std::vector<Token> prefix = tokens_of(value, line);
  for (const Token token : prefix)
    if (token >= judged_.model().vocabulary_size() || judged_.model().is_terminal(token))
      refuse(line, "a prefix that no token follows");
  return judged_.model().token_row(prefix);
}

std::string ProgramRequests::tickets_after(const json& value, const std::string& line) const {
  const TokenRow& row = row_after(value, line);
  return "{\"tickets\":" + list_of(reference::over_common_denominator(row).numerators) +
         ",\"p\":" + fractions_of(row).dump() + "}";
}

std::string ProgramRequests::logits_after(const json& value, const std::string& line) const {
  json logits = json::array();
  for (const Rational& probability : row_after(value, line))
    logits.push_back(probability == 0 ? json(nullptr)
                                      : json(log(to_real(probability)).convert_to<double>()));
  return json{{"logits", logits}}.dump();
}

// Exactly what is there: a whole number, a double, or a fraction as text.
Rational ProgramRequests::number_of(const json& value, const std::string& line) const {
  Rational number;
  if (value.is_number_unsigned()) {
    number = Rational(Integer(value.get<std::uint64_t>()));
  } else if (value.is_number_float() && std::isfinite(value.get<double>())) {
    // A whole number too long for 64 bits is read as a double, rounded.
    if (std::abs(value.get<double>()) >= 0x1p64)
      refuse(line, "a number of more than 64 bits: write it in quotes");
    mpq_set_d(number.backend().data(), value.get<double>());
  } else if (value.is_string()) {
    try {
      number = reference::parse_rational(value.get<std::string>(), "");
    } catch (const BadInput&) {
      refuse(line, "which is not a number");
    }
  } else {
    refuse(line, "which is not a number that is at least 0");
  }
  if (number < 0) refuse(line, "which is below 0");
  return number;
}

std::vector<Rational> ProgramRequests::tickets_of(const json& value,
                                                  const std::string& line) const {
  if (!value.is_array()) refuse(line, "which is not a list of tickets");
  if (value.empty()) refuse(line, "a draw from nothing");
  if (value.size() > most_tickets) refuse(line, "a draw among more than a million");
  std::vector<Rational> tickets;
  Rational total = 0;
  for (const json& ticket : value) total += tickets.emplace_back(number_of(ticket, line));
  if (total == 0) refuse(line, "a draw whose tickets are all 0");
  return tickets;
}

JudgedState ProgramRequests::end_of(const json& value, std::size_t records,
                                    const std::string& line) const {
  if (records == 1) return {tokens_of(value, line)};
  if (!value.is_array()) refuse(line, "which is not a list of records");
  JudgedState state;
  for (const json& record : value) state.push_back(tokens_of(record, line));
  return state;
}

}  // namespace tempera::lab
