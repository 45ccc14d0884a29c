#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/core/lottery/row_kernels.hpp"
#include "gpu/core/lottery/rows/row_draw.hpp"

namespace tempera::gpu {

/// The requests of a batch and their powers, laid out one after the other.
struct RowRequests {
  std::vector<RowRequest> requests;
  std::vector<double> powers;  ///< rungs of all rows, RowRequest::first_rung says where

  /// A row with this ladder; to be completed by the caller.
  RowRequest& add(std::span<const double> ladder);
};

/// The requests of rows whose words are Philox's of their addresses.
/// @throw Bug for a row that is drawn at no rung of its ladder
RowRequests requests_of(std::span<const RowDraw> draws);

/// @throw ModelError for a vocabulary that the lottery does not take
void require_drawable(std::size_t vocabulary);

/// @throw ModelError if the status of row `row` of a batch is not sound
void require_sound(std::uint32_t status, std::size_t row);

/// What a row's results say. log_z: of all rows.
ScoredToken scored_token(std::uint64_t token, double log_p, std::span<const double> log_z,
                         const RowRequest& request);

}  // namespace tempera::gpu
