#include "gpu/core/sampler/ladder.hpp"

#include <charconv>

#include "base/error.hpp"

namespace tempera::gpu {
namespace {

/// The shortest decimal that reads back as this power.
std::string decimal_of(double power) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, power);
  return std::string(text, end);
}

}  // namespace

void require_power(double power, const std::string& where) {
  // A NaN is in no range.
  if (power >= least_power && power <= largest_power) return;
  throw BadInput(where, "the power is " + decimal_of(power),
                 "give a power from 2^-20 to 2^20 (1048576)");
}

Ladder::Ladder(std::vector<double> powers) : powers_(std::move(powers)) {
  if (powers_.empty())
    throw BadInput("powers", "the ladder has no rung", "give at least one power");
  for (std::size_t k = 0; k < powers_.size(); ++k) {
    const std::string where = "powers, rung " + std::to_string(k + 1);
    require_power(powers_[k], where);
    if (k > 0 && powers_[k] <= powers_[k - 1])
      throw BadInput(where,
                     "the power " + decimal_of(powers_[k]) + " does not exceed the one before it",
                     "list the powers from the flattest rung to the sharpest, strictly increasing");
  }
  if (powers_.size() > 65535)
    throw BadInput("powers", "the ladder has more than 65535 rungs", "give fewer powers");
}

}  // namespace tempera::gpu
