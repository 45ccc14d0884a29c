#pragma once

#include <optional>
#include <vector>

#include "reference/analysis/detailed_balance.hpp"
#include "reference/kernels/carried_tempering.hpp"

namespace tempera::reference {

/// The most bytes that the residues of a carried law may take.
inline constexpr std::size_t carried_bytes_limit = std::size_t{6} << 30U;

/// Whether ΠP = Π: as many residues agree as determine the difference.
bool is_invariant(const CarriedTempering& kernels, const CarriedChain& chain);

/// TV(δ_start P^N, Π) for N = 0..steps, where step n applies schedule[(n - 1) mod its size]:
/// total_variation_curve for chains that have no matrix.
/// @throw BadInput if the residues of the last step take more than carried_bytes_limit
std::vector<Rational> total_variation_curve(const CarriedTempering& kernels,
                                            const std::vector<CarriedChain>& schedule,
                                            std::size_t start, std::size_t steps);

/// The expected number of round trips that a tagged replica has completed after n = 0..rounds
/// steps, step n applying schedule[(n - 1) mod its size], for joint records at equilibrium and a
/// tag that starts at rung K. A round trip ends with an arrival at rung K after a visit to rung 1,
/// rungs being looked at after each step (sec:chain-communication). By the law of joint records,
/// the tag's rung and the endpoint that it visited last, 2 K |S_T|^K numbers. K >= 2.
/// @throw BadInput if that law takes more than carried_bytes_limit
std::vector<Rational> round_trip_curve(const CarriedTempering& kernels,
                                       const std::vector<CarriedChain>& schedule,
                                       std::size_t rounds);

/// Two states among the first `looked_at` in the order (tokens, index) between which the flows at Π
/// differ, those with the fewest tokens together; nothing when there are none among them, whatever
/// the others do. Takes `looked_at` applications of the chain.
std::optional<StatePair> violation_among_small_states(const CarriedTempering& kernels,
                                                      const CarriedChain& chain,
                                                      const std::vector<std::size_t>& tokens,
                                                      std::size_t looked_at);

}  // namespace tempera::reference
