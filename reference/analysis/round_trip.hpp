#pragma once

#include <vector>

#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Acceptance a_k in (0, 1] of edges 1..K-1 (index 0..K-2), independent of history.
using EdgeAcceptances = std::vector<Rational>;

/// The most rungs whose round-trip chains are solved.
inline constexpr std::size_t round_trip_rung_limit = 64;

/// @throw BadInput, naming `where`, unless there is at least one edge and every a_k is in (0, 1]
void check_acceptances(const EdgeAcceptances& acceptances, const std::string& where);

/// Rung of a tagged replica at complete-sweep boundaries of the ordered schedule, K x K.
Matrix adj_chain(const EdgeAcceptances& acceptances);

/// The tagged replica's lifted state (k, ε) under the even-odd schedule, 2K x 2K: states
/// (1,-), (1,+), (2,-), (2,+), ... An accepted exchange keeps the direction, a rejected one
/// reverses it, and an outward direction at an endpoint reverses in one idle layer.
Matrix deo_chain(const EdgeAcceptances& acceptances);

/// Expected steps of a chain from each state until it first is in `state`, 0 there, by exact
/// elimination.
/// @throw BadInput if some state cannot reach it
std::vector<Rational> expected_hitting_times(const Matrix& chain, std::size_t state);

/// Expected iterations of one tagged replica's round trip.
struct RoundTrip {
  Rational up;    ///< rung 1 to rung K
  Rational down;  ///< rung K to rung 1
  Rational total() const { return up + down; }
};

/// From adj_chain, in sweeps.
RoundTrip adj_round_trip(const EdgeAcceptances& acceptances);
/// From deo_chain, in parity layers, from arrival at an endpoint to arrival at the other, both
/// turnaround layers included.
RoundTrip deo_round_trip(const EdgeAcceptances& acceptances);

/// The formulas, with ρ_k = (1 - a_k)/a_k and R = Σ ρ_k: up 1 + Σ k ρ_k (eq:ord-up), down
/// K - 1 + Σ (K - k) ρ_k (eq:ord-down), together K (1 + R).
RoundTrip adj_round_trip_formula(const EdgeAcceptances& acceptances);
/// 2 K (1 + R).
Rational deo_round_trip_formula(const EdgeAcceptances& acceptances);

}  // namespace tempera::reference
