#include "lab/laws/stationary_law.hpp"

#include <string>
#include <vector>

#include "reference/numbers/all_cores.hpp"
#include "reference/numbers/lifted_system.hpp"

namespace tempera::lab {
namespace {

using reference::Integer;
using reference::Rational;

/// Whether every state reaches the last.
bool all_reach_last(const reference::Matrix& p) {
  std::vector<char> reached(p.rows(), 0);
  std::vector<std::size_t> waiting{p.rows() - 1};
  reached.back() = 1;
  std::size_t count = 1;
  while (!waiting.empty()) {
    const std::size_t y = waiting.back();
    waiting.pop_back();
    for (std::size_t x = 0; x < p.rows(); ++x) {
      if (reached[x] || p(x, y) == 0) continue;
      reached[x] = 1;
      ++count;
      waiting.push_back(x);
    }
  }
  return count == p.rows();
}

}  // namespace

reference::Law exact_stationary_law(const reference::Matrix& p, double limit) {
  if (!all_reach_last(p))
    throw ReducibleChain("the chain is reducible: it has no unique stationary law");
  const std::size_t n = p.rows() - 1;
  std::vector<Integer> scale(n + 1, 1);
  double bits = 0.0;
  for (std::size_t x = 0; x <= n; ++x) {
    for (std::size_t y = 0; y <= n; ++y)
      if (p(x, y) != 0) scale[x] = lcm(scale[x], Integer(denominator(p(x, y))));
    bits += static_cast<double>(msb(scale[x]));
  }
  if (bits * static_cast<double>(n * n) > limit)
    throw FractionsTooLong("the fractions of the stationary law would have up to " +
                           std::to_string(static_cast<std::size_t>(bits)) + " bits");
  reference::IntegerMatrix balance(n, std::vector<Integer>(n));
  std::vector<Integer> inflow(n);
  for (std::size_t x = 0; x <= n; ++x) {
    for (std::size_t y = 0; y < n; ++y) {
      const Integer entry =
          Integer(numerator(p(x, y))) * (scale[x] / Integer(denominator(p(x, y))));
      if (x == n)
        inflow[y] = entry;
      else
        balance[y][x] = x == y ? Integer(scale[x] - entry) : Integer(-entry);
    }
  }
  // π_x / (scale_x D) for every state but the last, whose own is 1.
  reference::OverCommonDenominator ratio = reference::lifted_solution(balance, inflow);
  ratio.numerators.push_back(ratio.denominator);
  Integer total = 0;
  for (std::size_t x = 0; x <= n; ++x) {
    ratio.numerators[x] *= scale[x];
    total += ratio.numerators[x];
  }
  reference::Law law(n + 1);
  reference::on_all_cores(n + 1,
                          [&](std::size_t x) { law[x] = Rational(ratio.numerators[x], total); });
  return law;
}

}  // namespace tempera::lab
