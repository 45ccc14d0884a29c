#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::lab {

/// One use of a shipped finite model: an entry of toy_models/models.json.
struct ShippedUse {
  std::string name;
  reference::FiniteModel model;
  std::size_t horizon = 0;
  unsigned power = 1;                        ///< of the single rung, K = 1
  std::vector<unsigned> powers;              ///< of the ladder
  std::vector<reference::Rational> restart;  ///< empty: uniform

  reference::FixedHorizonSpace space() const { return {model, horizon}; }
  reference::Ladder ladder() const;
  reference::RestartLaw restart_law() const;
};

/// records to the power of rungs, or the largest number there is.
std::size_t joint_states(std::size_t records, std::size_t rungs);

/// How large what is walked may be; without limits by default.
struct WalkedSize {
  std::size_t states = std::numeric_limits<std::size_t>::max();  ///< joint ones
  std::size_t horizon = std::numeric_limits<std::size_t>::max();

  /// Whether the model's records of horizon `of`, on so many rungs, are few enough.
  bool has(const reference::FiniteModel& model, std::size_t of, std::size_t rungs) const;
};

/// What is walked unasked if a draw takes a hundred times as long, by what nvcc compiled: each
/// shipped model at least once, in some ten seconds.
inline constexpr WalkedSize small_laws{8, 5};
inline constexpr WalkedSize small_programs{4, 5};

/// The entries of toy_models/models.json under `tree`, in their order.
/// @throw BadInput naming file and remedy
std::vector<ShippedUse> read_shipped_uses(const std::string& tree);

}  // namespace tempera::lab
