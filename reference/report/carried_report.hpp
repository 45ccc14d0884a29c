#pragma once

#include "reference/report/exact_report.hpp"

namespace tempera::reference {

/// The most states of a carried report that are listed.
inline constexpr std::size_t listed_limit = 16'384;

/// A chain whose matrix is too large to exist: one rung, or the joint chain, carried through its
/// factors by residues.
struct CarriedReport {
  std::size_t records = 0;  ///< of one rung
  std::size_t size = 0;     ///< joint states
  /// The states of one rung, with p0 and (one rung alone) the target; empty above listed_limit.
  std::vector<std::string> states;
  Law base, target;
  bool invariant = false;
  /// Nothing if it is not decided: the chain is no palindrome of reversible factors, and no two
  /// of its smallest states have flows that differ.
  std::optional<bool> reversible;
  std::optional<ChainVerdict::Unbalanced> unbalanced;  ///< if it is not reversible
  bool irreducible = false;
  std::vector<Rational> swap_acceptance;  ///< at equilibrium, one per edge
  std::vector<Rational> total_variation;  ///< to the target after 0, 1, ..., steps; or empty
};

/// Whether S_T, or S_T^K, is above what RungReport and JointReport take.
/// @throw BadInput as count_fixed_horizon_records
bool is_carried(const FiniteModel& model, std::size_t horizon, std::size_t rungs);

/// Reports what report_fixed_horizon (a ladder of one rung) or report_joint (others) does, without
/// the matrix.
/// @throw BadInput if the restart range is the record's, the space is too large to be carried, a
/// power irrational, the start no state, or the curve too long to be exact
CarriedReport report_carried(const FiniteModel& model, const Ladder& ladder, Schedule schedule,
                             const ExactQuestion& asked);

}  // namespace tempera::reference
