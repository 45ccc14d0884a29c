#pragma once

#include "lab/defects/kernel_gallery.hpp"

/// Steps of public samplers, stated anew in fractions, each with what is wrong in it and
/// without (docs/reference/public_samplers.md). Records are those of the fixed horizon.
namespace tempera::lab {

/// Multiple tries over a uniform restart: candidates from the mean of the proposals at `powers`,
/// one chosen by p0^α over that mean and accepted with 1 ∧ Σ w / (1 + Σ of the others).
///
/// counts_the_current: whether that 1, the current record's own share, is there.
JudgedKernel multi_try(std::size_t tries, const std::vector<reference::Power>& powers,
                       bool counts_the_current = true);

/// Which record the second of two moves is scored against, if the first was accepted.
enum class PrefetchedScores { of_the_root, of_the_current };
/// The fate of a second restart after the first, whose prefix could not be known ahead.
enum class PrefetchedCuts { kept, drawn_again };
/// Two Metropolis-Hastings moves whose proposals are drawn ahead, for each outcome of the first.
JudgedKernel prefetched_pair(PrefetchedScores scores, PrefetchedCuts cuts);

/// The weight of a record in the pool.
enum class PoolWeights { over_proposal, times_proposal };
/// Where a pool's restart comes from, and how long its records may be.
enum class PoolCuts { of_the_horizon, of_the_record };
/// Calderhead's step: the next record is picked from the current one and `proposals` others.
JudgedKernel pool_of_proposals(std::size_t proposals, PoolWeights weights, PoolCuts cuts);

/// Those that are wrong.
std::vector<PlantedDefect> planted_in_public_steps();

}  // namespace tempera::lab
