#pragma once

#include "reference/kernels/parallel_tempering.hpp"

namespace tempera::reference {

/// The mean number of rounds between a tagged replica's arrivals at rung K, each after a visit to
/// rung 1, in the joint chain at equilibrium, one round being a local sweep and an ordered sweep,
/// and rungs being looked at after each: what K (1 + R) is if acceptances are independent of
/// history (sec:chain-communication). By the stationary law of the records, the tag's rung and the
/// endpoint that it visited last: 2 (K - 1) |S_T|^K states, for some hundred of them. K >= 2.
/// @throw BadInput if that law is not unique
Rational mean_round_trip(const ParallelTempering& chain);

}  // namespace tempera::reference
