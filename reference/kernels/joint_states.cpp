#include "reference/kernels/joint_states.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace tempera::reference {

std::size_t joint_states_up_to(std::size_t limit, std::size_t records, std::size_t rungs) {
  std::size_t states = 1;
  for (std::size_t k = 0; k < rungs; ++k) {
    if (records > limit / states) return limit + 1;
    states *= records;
  }
  return states;
}

std::size_t joint_size(const Shape& shape, std::size_t limit) {
  Integer size = 1;
  for (const std::size_t states : shape) size *= states;
  if (size > limit) {
    throw BadInput("ladder",
                   std::to_string(shape.size()) + " rungs of " + std::to_string(shape.front()) +
                       " records give " + size.str() + " joint states, more than the limit of " +
                       std::to_string(limit),
                   "use fewer rungs, a smaller horizon or a smaller model");
  }
  return size.convert_to<std::size_t>();
}

std::vector<std::size_t> coordinates(const Shape& shape, std::size_t state) {
  std::vector<std::size_t> result(shape.size());
  for (std::size_t k = shape.size(); k-- > 0;) {
    result[k] = state % shape[k];
    state /= shape[k];
  }
  return result;
}

std::size_t joint_state(const Shape& shape, const std::vector<std::size_t>& coordinates) {
  std::size_t state = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) state = state * shape[k] + coordinates[k];
  return state;
}

Law product_law(const std::vector<Law>& laws) {
  Law joint{Rational(1)};
  for (const Law& law : laws) {
    Law longer;
    longer.reserve(joint.size() * law.size());
    for (const Rational& mass : joint) {
      for (const Rational& next : law) longer.push_back(mass * next);
    }
    joint = std::move(longer);
  }
  return joint;
}

Law marginal(const Law& joint, const Shape& shape, std::size_t rung) {
  Law law(shape[rung]);
  for (std::size_t state = 0; state < joint.size(); ++state) {
    law[coordinates(shape, state)[rung]] += joint[state];
  }
  return law;
}

std::vector<std::string> joint_names(const RecordSpace& space, std::size_t rungs) {
  const Shape shape(rungs, space.size());
  std::vector<std::string> names(joint_size(shape));
  for (std::size_t state = 0; state < names.size(); ++state) {
    const auto records = coordinates(shape, state);
    for (std::size_t k = 0; k < rungs; ++k) {
      if (k > 0) names[state] += '|';
      names[state] += space.name(records[k]);
    }
  }
  return names;
}

std::size_t parse_joint_state(const RecordSpace& space, std::size_t rungs, std::string_view text,
                              const std::string& where) {
  if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '|')) + 1 != rungs) {
    throw BadInput(where,
                   "the joint state has " +
                       std::to_string(std::count(text.begin(), text.end(), '|') + 1) + " records",
                   "give one for each of the " + std::to_string(rungs) + " rungs, joined by '|'");
  }
  std::vector<std::size_t> records;
  for (std::size_t begin = 0; records.size() < rungs;) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    records.push_back(space.parse(text.substr(begin, end - begin), where));
    begin = end + 1;
  }
  return joint_state(Shape(rungs, space.size()), records);
}

std::vector<std::size_t> token_counts(const RecordSpace& space, std::size_t rungs) {
  const Shape shape(rungs, space.size());
  std::vector<std::size_t> counts(rungs == 1 ? space.size() : joint_size(shape));
  for (std::size_t state = 0; state < counts.size(); ++state) {
    for (const std::size_t record : coordinates(shape, state))
      counts[state] += space[record].length();
  }
  return counts;
}

}  // namespace tempera::reference
