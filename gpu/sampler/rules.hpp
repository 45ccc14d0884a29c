#pragma once

#include <cmath>
#include <utility>

#include "gpu/sampler/run.hpp"

namespace tempera::gpu {

/// The formulas on which the exactness of PPT hangs, each in one place. The kernels take them
/// as a template argument, so that lab/ can replace one line and show that its checks notice.
struct PaperRules {
  /// r ~ ω over all of {1, …, T_m}, whatever the record.
  static std::size_t restart_position(Turn& turn, const RestartLaw& law, const Record&) {
    return turn.draw(law);
  }

  /// log R^loc = Σ_{t=r}^{T_m} [ζ_{t,k}(y) − ζ_{t,k}(x)], `eq:implementation-local-cached-ratio`.
  static double local_log_ratio(const Record& x, const Record& y, std::size_t r, Rung k) {
    return y.sum_log_z(r, y.length(), k) - x.sum_log_z(r, x.length(), k);
  }

  /// The largest ζ_t that the program can compute at power α >= 1: what a token of a proposal can
  /// at most add to log R^loc.
  ///
  /// Of exact numbers ζ_t = log z_α(x_<t) <= 0 (tempera_early_rejection.z_le1). Tickets are
  /// rounded: with a_v = 2^44 exp(α(ℓ_v − max ℓ)), ζ = log(a/w) + log(W/2^44) − α log Z_1.
  ///   a <= w + 1/2 and w >= 1:                           log(a/w) <= log 1.5;
  ///   W <= Σ a_v + |V| and |V| <= 2^18:                  log(W/2^44) <= log Z_α + 2^-26;
  ///   Z_α <= Z_1 <= Z_1^α, since α >= 1 and Z_1 >= 1:    log Z_α − α log Z_1 <= 0.
  /// This is early_rejection_bound.zeta_slack. The rest is floating point. The a_v above are the
  /// computed ones, off by (31.2 + 2) 2^-53 of themselves at most, twice: 2^-46. log p0 is off by
  /// 2^-45, so α log p0 by α 2^-45 and its roundings, 2^-52 |α log p0|; log w and log W by 2^-45
  /// together. Where |α log p0| <= 2^10 that is below 2^-40; beyond, ζ itself is below −2^9. Hence
  ///   ζ <= log 1.5 + 2^-26 + 2^-46 + 2^-45 + 2^-40 + α 2^-45 < log 1.5 + 2^-25 + α 2^-45.
  static double largest_log_z(double power) {
    constexpr double log_3_halves = 0x1.9f323ecbf984cp-2;  // rounded up
    return log_3_halves + 0x1p-25 + 0x1p-45 * power;
  }

  /// An upper bound of every local_log_ratio that a proposal can still have: sum_y is Σ ζ_{t,k} of
  /// its tokens so far, from r on, sum_x that of the whole record x, and at most `to_come` tokens
  /// follow. Range: power >= 1; the sums as sum_log_z adds them.
  ///
  /// The bound is so much higher that the acceptance at it holds no fewer tickets than at the ratio
  /// itself. Rounding is monotone, so that the finished sum is at most that of adding largest_log_z
  /// `to_come` times, each addition rounded by 2^-53 of |sum_y| + to_come · largest. To this come a
  /// subtraction, the six roundings of this formula, and twice the error of exp, 2^-52 of itself
  /// each time: less than (to_come + 8) 2^-52 of the numbers' magnitudes plus 1.
  static double local_log_ratio_bound(double sum_y, double sum_x, std::size_t to_come,
                                      double power) {
    const auto count = static_cast<double>(to_come);
    const double rest = count * largest_log_z(power);
    const double magnitude = std::abs(sum_y) + std::abs(sum_x) + rest + 1.0;
    return (sum_y - sum_x) + rest + (count + 16.0) * 0x1p-52 * magnitude;
  }

  /// Whether a local move that has ended leaves another record than the moves begun ahead of it
  /// have drawn their proposals from: these are of the reject path.
  static bool outdates_those_ahead(const Event& move) { return move.accepted; }

  /// (α_{k+1} − α_k)[log p0(x) − log p0(y)] with x at rung k and y at rung k + 1,
  /// `eq:swap-acceptance-theory`, `eq:stage-swap`.
  static double swap_log_ratio(const Record& x, const Record& y, const Ladder& ladder, Rung k) {
    return (ladder.power(k + 1) - ladder.power(k)) * (x.log_p0() - y.log_p0());
  }

  /// The accepted exchange moves the complete record and every aligned cache.
  static void exchange(Record& x, Record& y) { std::swap(x, y); }
};

}  // namespace tempera::gpu
