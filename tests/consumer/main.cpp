// A user's own kernel, judged by enumeration: a Metropolis–Hastings step on the records of a finite
// model that proposes y ~ p0 and accepts it for the target p0^2. `consumer MODEL` says whether the
// target is invariant under the kernel, and under the same kernel without its acceptance.
#include <cstdint>
#include <iostream>
#include <vector>

#include "gpu/lottery/lottery.hpp"
#include "lab/enumerate/tree_lottery.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/common_denominator.hpp"
#include "reference/numbers/matrix.hpp"

namespace {

using tempera::reference::FixedHorizonSpace;
using tempera::reference::Law;
using tempera::reference::Matrix;
using tempera::reference::Rational;

constexpr std::size_t horizon = 2;

/// The tickets of p0 over the records of S_T.
std::vector<std::uint64_t> base_tickets(const FixedHorizonSpace& space) {
  std::vector<std::uint64_t> tickets;
  const auto shares =
      tempera::reference::over_common_denominator(tempera::reference::base_law(space));
  for (const auto& share : shares.numerators) tickets.push_back(share.convert_to<std::uint64_t>());
  return tickets;
}

/// The kernel: proposes y ~ p0 and accepts with probability 1 ∧ p0(y)/p0(x).
std::size_t step(std::size_t x, const std::vector<std::uint64_t>& tickets, bool accepts,
                 tempera::gpu::Lottery& lottery) {
  const std::size_t y =
      lottery.draw(tickets, {0, {.purpose = tempera::gpu::Purpose::proposal_token}});
  if (!accepts || tickets[y] >= tickets[x]) return y;
  const std::vector<std::uint64_t> decision{tickets[y], tickets[x] - tickets[y]};
  return lottery.draw(decision, {0, {.purpose = tempera::gpu::Purpose::accept}}) == 0 ? y : x;
}

Matrix enumerated(const FixedHorizonSpace& space, bool accepts) {
  const std::vector<std::uint64_t> tickets = base_tickets(space);
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    std::size_t y = x;
    tempera::lab::enumerate(
        [&](tempera::gpu::Lottery& tree) { y = step(x, tickets, accepts, tree); },
        [&](const Rational& probability) { kernel(x, y) += probability; });
  }
  return kernel;
}

bool preserves(const Matrix& kernel, const Law& target) {
  return tempera::reference::FactoredKernel(kernel).apply(target) == target;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: consumer MODEL\n";
    return 2;
  }
  const FixedHorizonSpace space(tempera::reference::load_finite_model(argv[1]), horizon);
  const Law target = tempera::reference::power_target(space, tempera::reference::Power(2));
  const bool sound = preserves(enumerated(space, true), target);
  const bool careless = preserves(enumerated(space, false), target);
  std::cout << "with acceptance the target is " << (sound ? "" : "not ")
            << "invariant; without, it is " << (careless ? "" : "not ") << "invariant\n";
  return sound && !careless ? 0 : 1;
}
