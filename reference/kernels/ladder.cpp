#include "reference/kernels/ladder.hpp"

#include <utility>

#include "base/error.hpp"
#include "reference/numbers/list.hpp"

namespace tempera::reference {
namespace {
constexpr unsigned largest_term = 1024;
constexpr std::size_t most_rungs = 64;
}  // namespace

Power::Power(const Rational& value, const std::string& where, Irrational irrational)
    : value_(value), irrational_(irrational) {
  if (value <= 0) {
    throw BadInput(where, "the power " + to_string(value) + " is not positive",
                   "use a power above 0; sharpening starts at 1");
  }
  if (numerator(value) > largest_term || denominator(value) > largest_term) {
    throw BadInput(where, "the power has a numerator or denominator above 1024",
                   "use a smaller or simpler power");
  }
}

Rational Power::raise(const Rational& probability) const {
  const auto raised = exact_power(probability, value_);
  if (!raised && irrational_ == Irrational::rounded)
    return rounded_power(probability, value_, bits_of_rounded_power);
  if (!raised) {
    throw BadInput("power " + to_string(value_),
                   "the probability " + to_string(probability) +
                       " raised to it is irrational, so nothing exact follows",
                   "use an integer power, or a model whose probabilities have exact roots");
  }
  return *raised;
}

Power parse_power(std::string_view text, const std::string& where) {
  return Power(parse_rational(text, where), where);
}

Ladder::Ladder(std::vector<Power> powers, const std::string& where) : powers_(std::move(powers)) {
  if (powers_.empty() || powers_.size() > most_rungs) {
    throw BadInput(where, "the ladder has " + std::to_string(powers_.size()) + " rungs",
                   "give 1 to " + std::to_string(most_rungs) + " powers");
  }
  for (std::size_t k = 1; k < powers_.size(); ++k) {
    if (powers_[k].value() <= powers_[k - 1].value()) {
      throw BadInput(where,
                     "the ladder does not increase: " + to_string(powers_[k].value()) +
                         " follows " + to_string(powers_[k - 1].value()),
                     "list the powers in strictly increasing order");
    }
  }
}

Ladder parse_ladder(std::string_view text, const std::string& where) {
  std::vector<Power> powers;
  for (const Rational& value : parse_rationals(text, where)) powers.emplace_back(value, where);
  return Ladder(std::move(powers), where);
}

}  // namespace tempera::reference
