#pragma once

#include <cmath>
#include <utility>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/core/sampler/chain.hpp"

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
  /// For exact numbers ζ_t = log z_α(x_<t) <= 0 (tempera_early_rejection.z_le1). Tickets are
  /// rounded: with a_v = 2^44 exp(α(ℓ_v − max ℓ)), ζ = log(a/w) + log(W/2^44) − α log Z_1.
  ///   a <= w + 1/2 and w >= 1:                           log(a/w) <= log 1.5;
  ///   W <= Σ a_v + |V| and |V| <= 2^18:                  log(W/2^44) <= log Z_α + 2^-26;
  ///   Z_α <= Z_1 <= Z_1^α, since α >= 1 and Z_1 >= 1:    log Z_α − α log Z_1 <= 0.
  /// This is early_rejection_bound.zeta_slack. The rest is floating point. The a_v above are the
  /// computed ones, off by (31.2 + 2) 2^-53 of themselves at most, twice: 2^-46. log p0 is off by
  /// 2^-45, so α log p0 by α 2^-45 and its roundings, 2^-52 |α log p0|; log w and log W by 2^-45
  /// together. If |α log p0| <= 2^10 that is below 2^-40; beyond, ζ itself is below −2^9. Hence
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

  /// Whether a local move or a swap that has ended leaves another record than the moves begun ahead
  /// of it have drawn their proposals from: these are of the reject path. An equal record is as
  /// good as the same one: scores and caches are functions of its tokens.
  static bool outdates_those_ahead(const Event& step) { return step.changed; }

  /// log ω(r | y) − log ω(r | x) for records of these lengths: nothing, since ω sees no record.
  static double restart_log_factor(const RestartLaw&, std::size_t, std::size_t) { return 0.0; }

  /// An upper bound of every restart_log_factor whose y has at least `y_least` tokens.
  static double restart_log_factor_bound(const RestartLaw&, std::size_t, std::size_t) {
    return 0.0;
  }

  /// (α_{k+1} − α_k)[log p0(x) − log p0(y)] with x at rung k and y at rung k + 1,
  /// `eq:swap-acceptance-theory`, `eq:stage-swap`.
  static double swap_log_ratio(const Record& x, const Record& y, const Ladder& ladder, Rung k) {
    return (ladder.power(k + 1) - ladder.power(k)) * (x.log_p0() - y.log_p0());
  }

  /// The accepted exchange moves the complete record and every aligned cache.
  static void exchange(Record& x, Record& y) { std::swap(x, y); }
};

/// The paper's rules with restarts over the record's own positions, ω(r | x) = ω(r) / Σ_{s <=
/// len(x)} ω(s), and the factor that this takes: no move is spent after an early end.
/// Range: ω(1) > 0.
struct RecordRestartRules : PaperRules {
  /// r ~ ω(· | x) on {1, …, len(x)}.
  static std::size_t restart_position(Turn& turn, const RestartLaw& law, const Record& x) {
    return turn.restart(law.tickets().first(x.length()));
  }

  /// log Σ_{s <= len(x)} ω(s) − log Σ_{s <= len(y)} ω(s); of the uniform law log τ(x)/τ(y), a
  /// record without a terminal token counting as T_m (Section implementation-local).
  static double restart_log_factor(const RestartLaw& law, std::size_t x_length,
                                   std::size_t y_length) {
    return logarithm(static_cast<double>(law.total(x_length))) -
           logarithm(static_cast<double>(law.total(y_length)));
  }

  /// The factor falls as y grows. 2^-40 is above what rounding can undo of that: a total's
  /// conversion is off by 2^-53 of it, a logarithm, at most 45, by less than 2^-44, and the two
  /// sums that follow by what local_log_ratio_bound has to spare, 8 · 2^-52 of their magnitudes.
  static double restart_log_factor_bound(const RestartLaw& law, std::size_t x_length,
                                         std::size_t y_least) {
    return restart_log_factor(law, x_length, y_least) + 0x1p-40;
  }
};

}  // namespace tempera::gpu
