#include "reference/analysis/cuts.hpp"

#include <algorithm>

namespace tempera::reference {
namespace {

// The side of the cut around `inside` that has at most half of the mass.
Cut cut_around(const ClassFlows& flows, const std::vector<bool>& inside) {
  Cut cut;
  const std::size_t classes = flows.masses.size();
  for (std::size_t a = 0; a < classes; ++a)
    if (inside[a]) cut.mass += flows.masses[a];
  const bool is_lighter = cut.mass <= Rational(1, 2);
  if (!is_lighter) cut.mass = 1 - cut.mass;
  for (std::size_t a = 0; a < classes; ++a) {
    if (inside[a] != is_lighter) continue;
    cut.classes.push_back(a);
    for (std::size_t b = 0; b < classes; ++b)
      if (inside[b] == !is_lighter) cut.flow += flows.between(a, b);
  }
  return cut;
}

}  // namespace

std::optional<Rational> Cut::steps_at_least(const Rational& within) const {
  if (flow == 0) return std::nullopt;
  return std::max(Rational(0), Rational((1 - mass - within) / conductance()));
}

std::optional<Cut> narrowest_cut(const ClassFlows& flows) {
  const std::size_t classes = flows.masses.size();
  std::optional<Cut> narrowest;
  const auto look_at = [&](const std::vector<bool>& inside) {
    Cut cut = cut_around(flows, inside);
    if (!narrowest || cut.conductance() < narrowest->conductance()) narrowest = std::move(cut);
  };
  if (classes < 2) return narrowest;
  if (classes > all_cuts_limit) {
    for (std::size_t a = 0; a < classes; ++a) {
      std::vector<bool> inside(classes);
      inside[a] = true;
      look_at(inside);
    }
    return narrowest;
  }
  // Sets without the last class: a set and its complement are one cut.
  for (std::size_t set = 1; set < std::size_t{1} << (classes - 1); ++set) {
    std::vector<bool> inside(classes);
    for (std::size_t a = 0; a < classes; ++a) inside[a] = ((set >> a) & 1U) != 0;
    look_at(inside);
  }
  return narrowest;
}

}  // namespace tempera::reference
