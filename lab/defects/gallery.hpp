#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/enumerate/compiled_space.hpp"

namespace tempera::lab {

/// The smallest pair of states on which a compiled kernel is not what it should be.
struct Counterexample {
  std::string kernel;  ///< "local move at power 4", "swap of powers 1 and 4", "cache after a swap"
  std::string x;       ///< tokens of the one state
  std::string y;       ///< and of the other
  std::string compiled;  ///< probability in the compiled program, decimal
  std::string exact;     ///< and what it should be
};

/// The largest error that a sound kernel's flow π(x)P(x, y), x ≠ y, may have.
///
/// The flow is min{π(x)q(y|x), π(y)q(x|y)}, and moves no further than its arguments do. The tickets
/// move q by at most |V| · 2^-44 for each of T tokens (half a ticket each, or max(1, ·)), the
/// ratio's double arithmetic by less than 2T · 8 · 2^-53 · 64 of it, and acceptance rounds by
/// 2^-62: together below 1e-11 for T <= 32 and |V| <= 4, the largest that is checked. An entry P(x,
/// y) itself may be further off if π(x) is tiny: there the proposal is not g but the tickets',
/// and the ratio follows the tickets.
inline constexpr double flow_bound = 1e-11;

/// Holds the sound kernels of production, every rung and edge, against reference/ on the model that
/// its own float32 logits define. Nothing if all flows agree to flow_bound and no record is
/// stale.
std::optional<Counterexample> check_kernels(const EnumerableModel& model, std::size_t horizon,
                                            const std::vector<double>& powers);

/// One planted defect and what the same check says of it.
struct Exhibit {
  std::string defect;
  std::string model;
  std::optional<Counterexample> caught;
};

/// The five planted defects, each judged by the same check as the sound kernels, on the given
/// model.
std::vector<Exhibit> defect_gallery(const EnumerableModel& model, const std::string& name,
                                    std::size_t horizon, const std::vector<double>& powers);

}  // namespace tempera::lab
