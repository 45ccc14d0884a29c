#include "reference/analysis/answer_probability.hpp"

namespace tempera::reference {

std::optional<Rational> answer_probability(const RecordSpace& space, const Law& law) {
  if (space.model().answers().empty()) return std::nullopt;
  Rational sum = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    if (space.model().is_answer(space[x].tokens)) sum += law[x];
  return sum;
}

Rational open_probability(const RecordSpace& space, const Law& law) {
  Rational sum = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    if (!space[x].terminated) sum += law[x];
  return sum;
}

}  // namespace tempera::reference
