#pragma once

#include "reference/report/exact_report.hpp"

namespace tempera::reference {

/// Round trips of a tagged replica in the joint chain, and what they would be if acceptances did
/// not depend on history.
struct RoundTripReport {
  /// Expected number after n = 0..rounds steps from equilibrium with the tag at rung K
  /// (round_trip_curve).
  std::vector<Rational> expected;
  /// Steps of one round trip by the formula at the acceptances of equilibrium: K (1 + R) ordered
  /// sweeps, or 2 K (1 + R) parity layers.
  Rational formula;
};

/// A step is a local sweep and an ordered sweep, or a local sweep and one parity layer.
/// @throw BadInput if there is one rung alone, the space is too large to be carried or a power
/// irrational
RoundTripReport report_round_trips(const FiniteModel& model, const Ladder& ladder,
                                   Schedule schedule, const ExactQuestion& asked,
                                   std::size_t rounds);

}  // namespace tempera::reference
