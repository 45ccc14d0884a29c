#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "gpu/core/sampler/rules.hpp"

namespace tempera::gpu {

/// The acceptance of one local move, whose word may be looked at before the proposal is complete.
///
/// Early rejection is exact: the word that decides has an address, so it is the same whenever it is
/// drawn, and where it rejects at an upper bound of the ratio it rejects at the ratio
/// (sampler_early_rejection.early_move_exact).
template <class Rules>
class EarlyRejection {
 public:
  /// x: the record that moves, which must stay as it is until the decision, as must ω.
  EarlyRejection(const Record& x, const RestartLaw& law, std::size_t r, Turn& turn)
      : turn_(turn), law_(law), x_length_(x.length()), next_(r), enabled_(turn.rejects_early()) {
    if (enabled_) sum_x_ = x.sum_log_z(r, x.length(), turn.rung());
  }

  /// Whether the proposal that begins with the open y is rejected whatever follows. Looks at no
  /// word if the run does not reject early.
  bool is_certain(const Record& y) {
    if (!enabled_) return false;
    for (; next_ <= y.length(); ++next_) sum_y_ += y.tokens().log_z(next_)[turn_.rung()];
    bound_ = Rules::local_log_ratio_bound(sum_y_, sum_x_, y.horizon() - y.length(), turn_.power()) +
             Rules::restart_log_factor_bound(law_, x_length_, y.length() + 1);
    const std::uint64_t accepting = accept_tickets(bound_)[0];
    // A bound that says no more than is known, or that all accept, needs no word.
    if (accepting >= known_.value_or(all_accept_tickets)) return false;
    return !decide(bound_, accepting);
  }
  /// The bound at which the rejection was certain.
  double bound() const { return bound_; }

  /// Whether the complete proposal, with this ratio, is accepted.
  /// @throw Bug if the ratio is above a bound of it
  bool accept(double log_ratio) {
    const std::uint64_t accepting = accept_tickets(log_ratio)[0];
    if (known_ && accepting > *known_)
      throw Bug("the ratio of a proposal is above what early rejection took for its bound");
    return decide(log_ratio, accepting);
  }

 private:
  bool decide(double log_ratio, std::uint64_t accepting) {
    const auto known = std::exchange(known_, accepting);
    return known ? turn_.accept_again(log_ratio, *known) : turn_.accept(log_ratio);
  }

  Turn& turn_;
  const RestartLaw& law_;
  std::size_t x_length_;
  std::size_t next_;  ///< position of the first token that is not in sum_y_
  bool enabled_;
  double sum_x_ = 0.0;
  double sum_y_ = 0.0;
  double bound_ = 0.0;
  std::optional<std::uint64_t> known_;  ///< tickets at which the word has accepted
};

}  // namespace tempera::gpu
