#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {

/// Makes the form of the draw that a walked program runs.
using MakeRows = std::unique_ptr<gpu::RowLottery> (*)();

/// What the law is asked of.
struct LawQuestion {
  std::size_t horizon = 0;
  std::vector<double> powers;  ///< one rung: local moves alone; more: R then one sweep
  /// ω as rationals over 1..T; uniform if empty.
  std::vector<reference::Rational> restart;
  /// DEO: the step is two local sweeps, the first followed by the odd edges, the second by the
  /// even.
  gpu::Schedule schedule = gpu::Schedule::adj;
  gpu::RestartRange restart_range = gpu::RestartRange::horizon;
  MakeRows rows = gpu::make_device_row_lottery;
  /// The powers of which `powers` are the nearest doubles; empty where they are those themselves.
  std::vector<reference::Rational> exact_powers = {};
};

/// The tickets of a rational restart law: ω(r) times the common denominator.
/// @throw BadInput if it does not fit 64 bits
gpu::RestartLaw restart_tickets(const std::vector<reference::Rational>& restart,
                                std::size_t horizon);

}  // namespace tempera::lab
