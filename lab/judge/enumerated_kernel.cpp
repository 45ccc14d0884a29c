#include "lab/judge/enumerated_kernel.hpp"

#include "base/error.hpp"
#include "lab/enumerate/tree_lottery.hpp"
#include "reference/numbers/common_denominator.hpp"

namespace tempera::lab {

JudgedKernel enumerated(KernelStep step) {
  return [step = std::move(step)](const JudgedCase& judged, const JudgedState& from) {
    KernelRow row;
    JudgedState to;
    enumerate([&](gpu::Lottery& tree) { to = step(judged, from, tree); },
              [&](const Rational& probability) { row[to] += probability; });
    return row;
  };
}

std::size_t draw_from(gpu::Lottery& lottery, const std::vector<Rational>& weights) {
  const auto shares = reference::over_common_denominator(weights);
  reference::Integer total = 0;
  for (const auto& share : shares.numerators) total += share;
  if (total >= reference::Integer(1) << 64U)
    throw Bug("the weights have no common denominator of 64 bits");
  std::vector<std::uint64_t> tickets;
  for (const auto& share : shares.numerators) tickets.push_back(share.convert_to<std::uint64_t>());
  return lottery.draw(tickets, {});
}

bool happens(gpu::Lottery& lottery, const Rational& probability) {
  if (probability == 1 || probability == 0) return probability == 1;
  return draw_from(lottery, {probability, Rational(1 - probability)}) == 0;
}

}  // namespace tempera::lab
