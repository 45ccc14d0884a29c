#include "cli/commands/exact_rows.hpp"

#include <nlohmann/json.hpp>
#include <optional>

namespace tempera::cli {

using nlohmann::ordered_json;

ordered_json probability_to_json(const std::optional<reference::Rational>& probability) {
  return probability ? ordered_json(reference::to_string(*probability)) : ordered_json(nullptr);
}

std::string decimals(const lab::Real& value, int digits) {
  return value.str(digits, std::ios::fixed);
}

std::string answers_of(const reference::FiniteModel& model) {
  std::string list;
  for (const auto& answer : model.answers()) list += (list.empty() ? "" : "|") + model.text(answer);
  return list;
}

nlohmann::ordered_json row_json(const lab::ExactRow& row) {
  return {{"sampler", row.sampler},
          {"effort", row.effort},
          {"matched", row.matched},
          {"decode_tokens", reference::to_string(row.decode_tokens)},
          {"decode_tokens_decimal", reference::to_decimal(row.decode_tokens, 12)},
          {"tv", reference::to_string(row.tv)},
          {"tv_decimal", reference::to_decimal(row.tv, 12)},
          {"log_likelihood", decimals(row.log_likelihood, 12)},
          {"answer_probability", probability_to_json(row.answer_probability)},
          {"open_probability", reference::to_string(row.open_probability)}};
}

}  // namespace tempera::cli
