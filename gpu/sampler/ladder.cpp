#include "gpu/sampler/ladder.hpp"

#include <cmath>
#include <sstream>

#include "gpu/input/bad_input.hpp"

namespace tempera::gpu {

Ladder::Ladder(std::vector<double> powers) : powers_(std::move(powers)) {
  if (powers_.empty())
    throw BadInput("powers", "the ladder has no rung", "give at least one power");
  for (std::size_t k = 0; k < powers_.size(); ++k) {
    std::ostringstream value;
    value << powers_[k];
    const std::string place = "powers, rung " + std::to_string(k + 1);
    if (!std::isfinite(powers_[k]) || powers_[k] <= 0.0)
      throw BadInput(place, "the power is " + value.str(), "give a finite power above 0");
    if (k > 0 && powers_[k] <= powers_[k - 1])
      throw BadInput(place, "the power " + value.str() + " does not exceed the one before it",
                     "list the powers from the flattest rung to the sharpest, strictly increasing");
  }
  if (powers_.size() > 65535)
    throw BadInput("powers", "the ladder has more than 65535 rungs", "give fewer powers");
}

}  // namespace tempera::gpu
