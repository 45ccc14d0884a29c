#include "reference/analysis/mixing_time.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/numbers/all_cores.hpp"

namespace tempera::reference {
namespace {

// Rows one after the other.
using Doubles = std::vector<double>;

Doubles multiply(const Doubles& a, const Doubles& b, std::size_t n) {
  Doubles product(n * n);
  on_all_cores(n, [&](std::size_t x) {
    double* const row = &product[x * n];
    for (std::size_t z = 0; z < n; ++z) {
      const double factor = a[x * n + z];
      if (factor == 0) continue;
      for (std::size_t y = 0; y < n; ++y) row[y] += factor * b[z * n + y];
    }
  });
  return product;
}

class Distances {
 public:
  Distances(const Matrix& kernel, const Law& target, const Rational& within)
      : size_(kernel.rows()), chain_(kernel), target_(target), within_(within) {
    for (const Rational& mass : target) masses_.push_back(mass.convert_to<double>());
  }

  /// True if the distance from every start is at most ε after `steps`. power: P^steps in floating
  /// point.
  bool are_within(const Doubles& power, std::size_t steps) const {
    std::vector<std::size_t> open;
    for (std::size_t x = 0; x < size_; ++x) {
      const Bracket distance = from(power, x, steps);
      if (distance.lower > within_) return false;
      if (distance.upper > within_) open.push_back(x);
    }
    return std::all_of(open.begin(), open.end(), [&](std::size_t x) {
      return total_variation_curve({chain_}, x, target_, steps).back() <= within_;
    });
  }

  /// TV(δ_x P^steps, π). Entries of P are rounded by a factor of 1 + 2^-52 at most, and a product
  /// of two matrices without negative entries adds n roundings of 2^-53 to each entry: all told the
  /// entries of P^N are off by a share of at most 2 N (n + 1) 2^-52 while that is below 1. The sum
  /// of n differences adds n + 2 roundings; numbers below 2^-1022 take part in less than one unit.
  Bracket from(const Doubles& power, std::size_t x, std::size_t steps) const {
    double sum = 0;
    for (std::size_t y = 0; y < size_; ++y) sum += std::abs(power[x * size_ + y] - masses_[y]);
    const Rational unit = Rational(1) / integer_power(Rational(2), 52);
    const Rational error = Rational(2 * (steps + 1) * (size_ + 1) + size_ + 5) * unit;
    const Rational middle = Rational(sum) / 2;
    return {std::max(Rational(0), Rational(middle - error)), middle + error};
  }

  /// A state from which the distance is largest, and the distance.
  std::pair<std::size_t, Bracket> largest(const Doubles& power, std::size_t steps) const {
    std::pair<std::size_t, Bracket> found{0, from(power, 0, steps)};
    for (std::size_t x = 1; x < size_; ++x) {
      const Bracket distance = from(power, x, steps);
      if (distance.upper > found.second.upper) found = {x, distance};
    }
    return found;
  }

 private:
  std::size_t size_;
  FactoredKernel chain_;
  const Law& target_;
  const Rational& within_;
  Doubles masses_;
};

}  // namespace

std::optional<MixingTime> mixing_time(const Matrix& kernel, const Law& target,
                                      const Rational& within) {
  const std::size_t n = kernel.rows();
  const auto rarest = std::min_element(target.begin(), target.end());
  const Rational at_start = 1 - *rarest;
  const auto rarest_state = static_cast<std::size_t>(rarest - target.begin());
  if (at_start <= within)
    return MixingTime{0, rarest_state, {at_start, at_start}, {at_start, at_start}};
  const Distances distances(kernel, target, within);
  // P, P², P⁴, …: the distance never grows with N, so that N is found by its binary digits.
  std::vector<Doubles> powers(1);
  for (const Rational& entry : kernel.entries())
    powers.front().push_back(entry.convert_to<double>());
  std::size_t steps = 1;
  for (; !distances.are_within(powers.back(), steps); steps *= 2) {
    if (steps >= mixing_steps_limit) return std::nullopt;
    powers.push_back(multiply(powers.back(), powers.back(), n));
  }
  // The most steps that are too few, and P to that power.
  std::size_t too_few = 0;
  Doubles power;
  for (std::size_t digit = powers.size() - 1; digit-- > 0;) {
    Doubles longer = too_few == 0 ? powers[digit] : multiply(power, powers[digit], n);
    const std::size_t sum = too_few + (std::size_t{1} << digit);
    if (distances.are_within(longer, sum)) continue;
    too_few = sum;
    power = std::move(longer);
  }
  const Doubles last = too_few == 0 ? powers.front() : multiply(power, powers.front(), n);
  const Bracket after = distances.largest(last, too_few + 1).second;
  if (too_few == 0) return MixingTime{1, rarest_state, {at_start, at_start}, after};
  const auto [start, before] = distances.largest(power, too_few);
  return MixingTime{too_few + 1, start, before, after};
}

}  // namespace tempera::reference
