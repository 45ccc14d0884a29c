#include "lab/claims/truncated_metropolis.hpp"

#include "gpu/core/sampler/record.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// The same from one restart position, without its probability. After the record's end the
/// proposal's product stays 1.
Rational proposed(const ComparisonSpace& space, const SuffixProposal& proposal, std::size_t r,
                  std::size_t x, std::size_t y) {
  const std::size_t budget = space[x].length(), end = space[y].length();
  const bool generated = end == budget || (end < budget && space[y].terminated);
  if (!generated || r > budget || r > last_shared_restart(space[x], space[y])) return 0;
  return proposal.suffix(y, r) / proposal.suffix(y, end + 1);
}

Rational restart_at(const Record& record) { return Rational(1) / Rational(record.length()); }

}  // namespace

Rational truncated_proposal(const ComparisonSpace& space, const Power& power, std::size_t x,
                            std::size_t y) {
  const SuffixProposal proposal(space, power);
  Rational sum = 0;
  for (std::size_t r = 1; r <= space[x].length(); ++r)
    sum += restart_at(space[x]) * proposed(space, proposal, r, x, y);
  return sum;
}

Matrix truncated_metropolis(const ComparisonSpace& space, const Power& power) {
  const Law target = power_target(space, power);
  const SuffixProposal proposal(space, power);
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t y = 0; y < space.size(); ++y) {
      if (x == y) continue;
      for (std::size_t r = 1; r <= space[x].length(); ++r) {
        const Rational forward = restart_at(space[x]) * proposed(space, proposal, r, x, y);
        const Rational reverse =
            r > space[y].length()
                ? Rational(0)
                : Rational(restart_at(space[y]) * proposed(space, proposal, r, y, x));
        if (forward == 0 || reverse == 0) continue;
        // From a record without mass every move that can be undone is accepted.
        kernel(x, y) +=
            target[x] == 0
                ? forward
                : Rational(forward * acceptance(target[y] * reverse, target[x] * forward));
      }
    }
  complete_rows_on_diagonal(kernel);
  return kernel;
}

Matrix restart_through_tau(const FixedHorizonSpace& space, const Power& power,
                           std::size_t censored) {
  const Law target = power_target(space, power);
  const SuffixProposal q(space, power);
  const auto tau = [&](std::size_t x) {
    return Rational(space[x].terminated ? space[x].length() : censored);
  };
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t y = 0; y < space.size(); ++y) {
      if (x == y) continue;
      for (std::size_t r = 1; r <= last_shared_restart(space[x], space[y]); ++r)
        kernel(x, y) +=
            restart_at(space[x]) * q(r, x, y) *
            acceptance(target[y] * q(r, y, x) * tau(x), target[x] * q(r, x, y) * tau(y));
    }
  complete_rows_on_diagonal(kernel);
  return kernel;
}

}  // namespace tempera::lab
