#include "reference/analysis/structural_bias.hpp"

#include <algorithm>

namespace tempera::reference {
namespace {

Rational positive_part(const Rational& value) { return value > 0 ? value : Rational(0); }

// K (1 - δ)^N bounds the probability that any long record remains.
Rational long_record_bound(const std::vector<RungBias>& rungs, unsigned rounds) {
  return Rational(rungs.size()) * integer_power(1 - uniform_entry(rungs), rounds);
}

}  // namespace

RungBias rung_bias(const ComparisonSpace& space, const Matrix& local_kernel, const Law& target,
                   std::size_t h) {
  RungBias bias{0, 1, 0, true};
  for (std::size_t x = 0; x < space.size(); ++x) {
    Rational into_short = 0;
    for (std::size_t y = 0; y < space.size(); ++y) {
      if (space[y].length() <= h) into_short += local_kernel(x, y);
    }
    if (space[x].length() <= h) {
      bias.confined = bias.confined && into_short == 1;
    } else {
      bias.excluded_mass += target[x];
      bias.entry = std::min(bias.entry, into_short);
      bias.flow += target[x] * into_short;
    }
  }
  return bias;
}

Rational uniform_entry(const std::vector<RungBias>& rungs) {
  Rational least = 1;
  for (const RungBias& rung : rungs) least = std::min(least, rung.entry);
  return least;
}

Rational joint_bias_floor(const std::vector<RungBias>& rungs) {
  Rational all_short = 1;
  for (const RungBias& rung : rungs) all_short *= 1 - rung.excluded_mass;
  return 1 - all_short;
}

Rational joint_bias_bound(const std::vector<RungBias>& rungs, unsigned rounds) {
  return positive_part(joint_bias_floor(rungs) - long_record_bound(rungs, rounds));
}

Rational output_bias_bound(const std::vector<RungBias>& rungs, std::size_t k, unsigned rounds) {
  return positive_part(rungs[k].excluded_mass - long_record_bound(rungs, rounds));
}

Rational flow_bound(const std::vector<RungBias>& rungs) {
  Rational flow = 0;
  for (const RungBias& rung : rungs) flow += rung.flow;
  return flow / Rational(rungs.size());
}

}  // namespace tempera::reference
