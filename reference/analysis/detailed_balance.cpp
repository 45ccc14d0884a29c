#include "reference/analysis/detailed_balance.hpp"

#include <map>

#include "reference/numbers/common_denominator.hpp"

namespace tempera::reference {
namespace {

// All flows over one denominator, so that comparing them takes no division.
class Flows {
 public:
  Flows(const FactoredKernel& kernel, const Law& target)
      : kernel_(kernel),
        target_(over_common_denominator(target)),
        denominator_(target_.denominator * kernel.row_denominator()),
        rows_(target.size()) {}

  Integer numerator(std::size_t x, std::size_t y) {
    if (rows_[x].empty()) rows_[x] = kernel_.row_numerators(x);
    return target_.numerators[x] * rows_[x][y];
  }
  Rational flow(std::size_t x, std::size_t y) {
    return Rational(numerator(x, y)) / Rational(denominator_);
  }

 private:
  const FactoredKernel& kernel_;
  OverCommonDenominator target_;
  Integer denominator_;
  std::vector<std::vector<Integer>> rows_;
};

}  // namespace

std::optional<StatePair> first_violation_of_detailed_balance(
    const FactoredKernel& kernel, const Law& target, const std::vector<std::size_t>& tokens) {
  std::map<std::size_t, std::vector<std::size_t>> states_of_size;
  for (std::size_t x = 0; x < target.size(); ++x) states_of_size[tokens[x]].push_back(x);
  const std::size_t largest = states_of_size.rbegin()->first;

  Flows flows(kernel, target);
  for (std::size_t together = 0; together <= 2 * largest; ++together) {
    std::optional<std::pair<std::size_t, std::size_t>> first;
    for (const auto& [size, states] : states_of_size) {
      if (size > together) break;
      const auto others = states_of_size.find(together - size);
      if (others == states_of_size.end()) continue;
      for (const std::size_t x : states) {
        for (const std::size_t y : others->second) {
          if (x < y && (!first || std::pair(x, y) < *first) &&
              flows.numerator(x, y) != flows.numerator(y, x)) {
            first = {x, y};
          }
        }
      }
    }
    if (first) {
      const auto [x, y] = *first;
      return StatePair{x, y, flows.flow(x, y), flows.flow(y, x)};
    }
  }
  return std::nullopt;
}

}  // namespace tempera::reference
