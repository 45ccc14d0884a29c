#pragma once

#include <cstddef>
#include <vector>

namespace tempera::gpu {

/// A rung's index, from 0; the paper counts from 1.
using Rung = std::size_t;

/// The powers 0 < α_1 < … < α_K of the rungs.
class Ladder {
 public:
  /// @throw BadInput unless the powers are finite, positive and strictly increasing
  explicit Ladder(std::vector<double> powers);
  std::size_t rungs() const { return powers_.size(); }
  double power(Rung k) const { return powers_.at(k); }
  const std::vector<double>& powers() const { return powers_; }

 private:
  std::vector<double> powers_;
};

}  // namespace tempera::gpu
