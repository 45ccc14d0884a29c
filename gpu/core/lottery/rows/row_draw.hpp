#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "gpu/core/lottery/lottery.hpp"
#include "gpu/core/lottery/rows/row_rules.hpp"

namespace tempera::gpu {

/// A token with what its record keeps of it.
struct ScoredToken {
  std::uint32_t id = 0;
  double log_p = 0.0;  ///< ℓ_t = log p0(x_t | x_<t), `eq:implementation-base-log-probability`
  std::vector<double> log_z;  ///< ζ_{t,j} for every rung j, `eq:implementation-token-normalizers`
  /// Σ_v p0(v | x_<t) log p0(v | x_<t), if it was asked for; else 0.
  double negative_entropy = 0.0;

  friend bool operator==(const ScoredToken&, const ScoredToken&) = default;
};

/// One row of a batch that a token is drawn from. Rows of one batch may have different ladders,
/// rungs, seeds and addresses.
struct RowDraw {
  std::span<const double> powers;  ///< of all rungs of the row's ladder, in order, each > 0
  std::size_t rung = 0;            ///< whose power the row is drawn at, below powers.size()
  Draw draw;
  std::optional<RowRules> rules = {};  ///< what changes the row before: for draw_by_rules alone
};

/// A token is to be scored that the model gives probability zero.
class ImpossibleToken : public ModelError {
 public:
  using ModelError::ModelError;
};

/// One row of a batch whose token is given.
struct RowToken {
  std::span<const double> powers;  ///< of all rungs that it is scored for, not empty, each > 0
  std::uint32_t token = 0;
};

}  // namespace tempera::gpu
