#pragma once

#include <utility>

#include "gpu/sampler/run.hpp"

namespace tempera::gpu {

/// The four formulas on which the exactness of PPT hangs, each in one place. The kernels take them
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

  /// (α_{k+1} − α_k)[log p0(x) − log p0(y)] with x at rung k and y at rung k + 1,
  /// `eq:swap-acceptance-theory`, `eq:stage-swap`.
  static double swap_log_ratio(const Record& x, const Record& y, const Ladder& ladder, Rung k) {
    return (ladder.power(k + 1) - ladder.power(k)) * (x.log_p0() - y.log_p0());
  }

  /// The accepted exchange moves the complete record and every aligned cache.
  static void exchange(Record& x, Record& y) { std::swap(x, y); }
};

}  // namespace tempera::gpu
