#include "reference/kernels/restart_law.hpp"

#include <utility>

#include "base/error.hpp"
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

RestartLaw RestartLaw::in_parts(const std::vector<Rational>& weights, std::size_t horizon,
                                const std::string& where) {
  if (weights.empty() || weights.size() > horizon)
    throw BadInput(where,
                   "there are " + std::to_string(weights.size()) + " weights for " +
                       std::to_string(horizon) + " positions",
                   "give from 1 to " + std::to_string(horizon));
  std::vector<Rational> of_position;
  Rational total = 0;
  for (std::size_t r = 1; r <= horizon; ++r)
    total += of_position.emplace_back(weights[weights.size() * (r - 1) / horizon]);
  if (total <= 0) throw BadInput(where, "no weight is above 0", "give weights that are not all 0");
  for (Rational& weight : of_position) weight /= total;
  return RestartLaw(std::move(of_position), where);
}

Rational RestartLaw::up_to(std::size_t r) const {
  Rational sum = 0;
  for (std::size_t s = 1; s <= r; ++s) sum += (*this)(s);
  return sum;
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
