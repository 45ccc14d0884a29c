#include "lab/laws/law_question.hpp"

#include <cstdint>
#include <limits>

#include "base/error.hpp"

namespace tempera::lab {

gpu::RestartLaw restart_tickets(const std::vector<reference::Rational>& restart,
                                std::size_t horizon) {
  if (restart.empty()) return gpu::RestartLaw::uniform(horizon);
  if (restart.size() != horizon)
    throw BadInput(
        "restart law",
        std::to_string(restart.size()) + " probabilities for horizon " + std::to_string(horizon),
        "give one for each restart position 1..T");
  reference::Integer scale = 1;
  for (const reference::Rational& probability : restart)
    scale = lcm(scale, reference::Integer(denominator(probability)));
  if (scale > reference::Integer(std::numeric_limits<std::uint64_t>::max()))
    throw BadInput("restart law", "its common denominator exceeds 64 bits",
                   "use simpler fractions");
  std::vector<std::uint64_t> tickets;
  for (const reference::Rational& probability : restart)
    tickets.push_back(static_cast<std::uint64_t>(reference::Integer(
        numerator(reference::Rational(probability * reference::Rational(scale))))));
  return gpu::RestartLaw(tickets);
}

}  // namespace tempera::lab
