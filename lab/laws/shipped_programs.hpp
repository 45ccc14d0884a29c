#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/laws/program_law.hpp"
#include "lab/laws/shipped_models.hpp"

namespace tempera::lab {

/// A whole program walked on a shipped model, and how far its law is from the reference's.
struct ShippedProgram {
  std::string model;
  bool truncating = false;  ///< the truncating sampler; else Algorithm 1
  ProgramQuestion question;
  ProgramReport report;
  double seconds = 0.0;

  /// Whether tv_own and tv_to_target are below their bounds, with no stale record.
  bool holds() const;
};

/// Walks Algorithm 1 on every model of the uses, in two stages if the horizon allows it: on one
/// rung, and on ladders of two and three under both schedules, the answer taken from another rung
/// than the last; and the truncating sampler. `done` is told each and how many there are in all.
/// `most`: programs that are larger are left out.
std::vector<ShippedProgram> shipped_programs(
    const std::vector<ShippedUse>& uses,
    const std::function<void(const ShippedProgram&, std::size_t)>& done = {},
    MakeRows rows = gpu::make_device_row_lottery, const WalkedSize& most = {});

}  // namespace tempera::lab
