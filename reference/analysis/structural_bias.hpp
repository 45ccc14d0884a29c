#pragma once

#include <vector>

#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// What one rung contributes to the structural bias of a truncating kernel at the length threshold
/// h: records of length at most h are short (sec:truncation-lower-bound).
struct RungBias {
  Rational excluded_mass;  ///< b_k = π_k(long records)
  Rational entry;          ///< least probability, over long records, of becoming short in one move
  Rational flow;           ///< φ_k = Σ_{x long} π_k(x) L(x, short)
  bool confined;           ///< whether short records stay short (eq:ppt-local-confinement)
};

/// What thm:ppt-structural-bias needs of a rung, from its local kernel on the comparison space and
/// its target extended by zero. `entry` is 1 when no record is longer than h.
RungBias rung_bias(const ComparisonSpace& space, const Matrix& local_kernel, const Law& target,
                   std::size_t h);

/// δ: the least entry of all rungs.
Rational uniform_entry(const std::vector<RungBias>& rungs);

/// [1 - Π_j (1 - b_j) - K (1 - δ)^N]_+, below TV(μ_N, Π) from any initializer when every rung is
/// confined (eq:ppt-joint-bias-lower).
Rational joint_bias_bound(const std::vector<RungBias>& rungs, unsigned rounds);
/// [b_k - K (1 - δ)^N]_+, below TV(μ_N^{(k)}, π_k), k from 0 (eq:ppt-output-bias-lower).
Rational output_bias_bound(const std::vector<RungBias>& rungs, std::size_t k, unsigned rounds);

/// The limit of the first bound as N grows, if δ > 0: 1 - Π_j (1 - b_j) (eq:truncation-floor).
/// That of the second is b_k itself.
Rational joint_bias_floor(const std::vector<RungBias>& rungs);

/// (1/K) Σ_k φ_k, below TV(Π P-tilde, Π).
Rational flow_bound(const std::vector<RungBias>& rungs);

}  // namespace tempera::reference
