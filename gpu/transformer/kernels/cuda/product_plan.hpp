#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"
#include "gpu/transformer/kernels/cuda/product_layout.hpp"

namespace tempera::gpu {

/// How deep the ring of weights can be, in stages of 16 KiB a block.
constexpr unsigned ring_depths[] = {8, 5, 4, 3};

/// What the plan of a product depends on, besides its sizes.
struct ProductDevice {
  unsigned multiprocessors;
  std::size_t shared_bytes;  ///< that one block may have
};

/// How a product is cut into the jobs of its blocks. It changes no bit.
///
/// A unit is what one warp takes at a time: one segment of one tile of outputs (or of two). A job
/// is `job_units` neighbouring units of outputs, a part of the segments, and a chunk of the tokens.
struct ProductPlan {
  unsigned rows;           ///< tokens
  unsigned token_tiles;    ///< of 8 tokens that a chunk has: 1, 2, 4 or 8
  unsigned stages;         ///< of the ring of weights: one of ring_depths
  unsigned in;             ///< inputs
  unsigned out;            ///< outputs that are stored
  unsigned tiles;          ///< of 16 outputs that the matrix has
  unsigned units;          ///< of outputs
  unsigned segments;       ///< of the inputs
  unsigned job_units;      ///< units of outputs of a job, at most
  unsigned parts;          ///< of the segments
  unsigned part_segments;  ///< segments of a part, at most
  unsigned chunks;         ///< of the tokens
  unsigned window;         ///< segments whose inputs lie in shared memory together
  unsigned blocks;
  unsigned unit_tiles;
  std::size_t shared_bytes;

  TEMPERA_HOST_DEVICE unsigned ranges() const { return (units + job_units - 1) / job_units; }
  TEMPERA_HOST_DEVICE unsigned jobs() const { return ranges() * parts * chunks; }
  /// Floats of the scratch memory: the sums of every segment, where a result has several parts.
  std::size_t scratch_floats() const {
    return parts == 1 ? 0 : std::size_t{segments} * rows * units * unit_tiles * tile_outputs;
  }
  /// Counters of finished parts, one per range and chunk; all zero between launches.
  std::size_t counters() const { return parts == 1 ? 0 : std::size_t{ranges()} * chunks; }
};

/// The token tiles of 8 that a kernel for this many rows takes, where the device has room for their
/// inputs: 1, 2, 4 or 8.
constexpr unsigned token_tiles_for(unsigned rows) {
  return rows <= 8 ? 1 : rows <= 16 ? 2 : rows <= 32 ? 4 : 8;
}

/// The tiles of 16 outputs that a warp takes together: gate and up, or two neighbours where many
/// tokens would otherwise read the inputs from shared memory too often.
constexpr unsigned unit_tiles_for(unsigned token_tiles, bool gated) {
  return gated || token_tiles == 8 ? 2 : 1;
}

/// The cheapest cut by the model of product_plan.cpp, of those for the largest chunks of tokens and
/// then the deepest ring that the device has room for.
/// @param tiles of 16 outputs that the matrix has; of a gated one, gate's and up's together
/// @throw BadInput where the device has too little shared memory for any cut
ProductPlan plan_product(unsigned rows, unsigned in, unsigned out, unsigned tiles, bool gated,
                         const ProductDevice& device);

}  // namespace tempera::gpu
