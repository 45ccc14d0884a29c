#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tempera::gpu {

/// A rung's index, from 0; the paper counts from 1.
using Rung = std::size_t;

/// The powers that are taken, 2^-20 to 2^20.
///
/// Float32 logits differ by less than 2^129, so |α(ℓ − max ℓ)| < 2^149 for each token and < 2^170
/// for a record of 2^20 tokens and for each score of a move or swap (a few such sums): no power in
/// this range can overflow a double (2^1024), let alone make a NaN. The bound is no higher because
/// log p0 is known to 2^-44 of a token: α times that error is 2^-24 at the largest power, the grain
/// that a float32 logit has itself. Below the smallest, every record whose log p0 is above -2^10
/// would be as likely as any other to 2^-10.
inline constexpr double least_power = 0x1p-20;
inline constexpr double largest_power = 0x1p+20;

/// @throw BadInput naming `where` unless the power is in [least_power, largest_power]
void require_power(double power, const std::string& where);

/// The powers 0 < α_1 < … < α_K of the rungs.
class Ladder {
 public:
  /// @throw BadInput unless the powers are in [least_power, largest_power] and strictly increasing
  explicit Ladder(std::vector<double> powers);
  std::size_t rungs() const { return powers_.size(); }
  double power(Rung k) const { return powers_.at(k); }
  const std::vector<double>& powers() const { return powers_; }

 private:
  std::vector<double> powers_;
};

}  // namespace tempera::gpu
