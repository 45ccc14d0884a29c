#pragma once

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

/// The entries of toy_models/models.json under `tree`, in their order.
/// @throw BadInput naming file and remedy
std::vector<ShippedUse> read_shipped_uses(const std::string& tree);

}  // namespace tempera::lab
