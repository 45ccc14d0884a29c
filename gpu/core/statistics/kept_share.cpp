#include "gpu/core/statistics/kept_share.hpp"

#include <cmath>

#include "gpu/core/lottery/exponential.hpp"

namespace tempera::gpu {
namespace {

/// log(1 − share), with the relative precision of small shares too: rounding 1 − share is made
/// good.
double log_of_rest(double share) {
  const double rest = 1.0 - share;
  return rest == 1.0 ? -share : logarithm(rest) * (share / (1.0 - rest));
}

/// P(Bin(trials, share) <= most).
class BinomialTail {
 public:
  BinomialTail(std::uint64_t trials, std::uint64_t most) : trials_(trials), most_(most) {
    for (std::uint64_t j = 0; j < most && most < trials; ++j)
      log_choices_ += logarithm(number(trials - j) / number(j + 1));
  }

  double at_most(double share) const {
    if (most_ >= trials_ || share <= 0.0) return 1.0;
    if (share >= 1.0) return 0.0;
    const double odds = share / (1.0 - share);
    const auto k = number(most_);
    const auto n = number(trials_);
    const double last =
        exponential(log_choices_ + k * logarithm(share) + (n - k) * log_of_rest(share));
    // The side on which terms fall: a term that underflows there is followed by smaller ones.
    if (k < n * share) {
      double term = last;
      double sum = 0.0;
      for (std::uint64_t j = most_; term > sum * 0x1p-60; --j) {
        sum += term;
        if (j == 0) break;
        term *= number(j) / (number(trials_ - j + 1) * odds);
      }
      return sum;
    }
    double term = last * (n - k) * odds / (k + 1.0);
    double sum = 0.0;
    for (std::uint64_t j = most_ + 1; term > sum * 0x1p-60; ++j) {
      sum += term;
      term *= number(trials_ - j) * odds / number(j + 1);
    }
    return 1.0 - sum;
  }

  /// The share at which at_most, which falls from 1 to 0, has this level.
  double share_of(double level) const {
    double low = 0.0;
    double high = 1.0;
    while (true) {
      const double middle = (low + high) / 2.0;
      if (middle == low || middle == high) return middle;
      (at_most(middle) > level ? low : high) = middle;
    }
  }

 private:
  static double number(std::uint64_t count) { return static_cast<double>(count); }

  std::uint64_t trials_;
  std::uint64_t most_;
  double log_choices_ = 0.0;
};

}  // namespace

KeptShare kept_share(std::uint64_t kept, std::uint64_t proposals, double confidence) {
  const double tail = (1.0 - confidence) / 2.0;
  const auto k = static_cast<double>(kept);
  const auto n = static_cast<double>(proposals);
  KeptShare found;
  found.estimate = kept > 1 ? (k - 1.0) / (n - 1.0) : 1.0 / n;
  // P(N <= n) = P(Bin(n, p) >= k), and P(N >= n) = P(Bin(n - 1, p) <= k - 1).
  found.low = BinomialTail(proposals, kept - 1).share_of(1.0 - tail);
  found.high = proposals == kept ? 1.0 : BinomialTail(proposals - 1, kept - 1).share_of(tail);
  return found;
}

double moves_of_one_chain(double share, std::size_t horizon, double tv) {
  return std::ceil(-logarithm(tv) * static_cast<double>(horizon) / share);
}

}  // namespace tempera::gpu
