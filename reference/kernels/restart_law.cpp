#include "reference/kernels/restart_law.hpp"

#include <utility>

#include "reference/bad_input.hpp"
#include "reference/numbers/list.hpp"

namespace tempera::reference {

RestartLaw::RestartLaw(std::vector<Rational> weights, const std::string& where)
    : weights_(std::move(weights)) {
  Rational total = 0;
  for (const Rational& weight : weights_) {
    if (weight < 0) {
      throw BadInput(where, "the weight " + to_string(weight) + " is negative",
                     "give weights that are at least 0");
    }
    total += weight;
  }
  if (total != 1) {
    throw BadInput(where, "the weights sum to " + to_string(total) + ", not to 1",
                   "correct the weights");
  }
}

RestartLaw RestartLaw::uniform(std::size_t horizon) {
  return RestartLaw(std::vector<Rational>(horizon, Rational(1) / Rational(horizon)));
}

RestartLaw parse_restart_law(std::string_view text, std::size_t horizon, const std::string& where) {
  auto weights = parse_rationals(text, where);
  if (weights.size() != horizon) {
    throw BadInput(where, "has " + std::to_string(weights.size()) + " weights",
                   "give one for each of the " + std::to_string(horizon) + " positions");
  }
  return RestartLaw(std::move(weights), where);
}

}  // namespace tempera::reference
