#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "gpu/device/arithmetic.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_layout.hpp"

namespace tempera::gpu {

/// How deep the ring of weights can be, in stages of 16 KiB a block. Deeper ones were no faster on
/// an H200, and leave no room for a second block.
constexpr unsigned ring_depths[] = {4, 3};

/// What the plan of a product depends on, besides its sizes.
struct ProductDevice {
  unsigned multiprocessors;
  std::size_t shared_bytes;  ///< that one block may have
  bool warpgroups = false;   ///< whether four warps can take steps together (wgmma)
  /// Blocks that a multiprocessor must have room for at least, of a plan in chunks.
  unsigned least_blocks = 1;
};

/// How a product is cut into the jobs of its blocks. It changes no bit.
///
/// A unit is what one warp takes at a time: one segment of one tile of outputs (or of two). A job
/// is `job_units` neighbouring units of outputs, a part of the segments, and a chunk of the tokens.
struct ProductPlan {
  ProductForm form;
  unsigned rows;           ///< tokens
  unsigned token_tiles;    ///< of 8 tokens that a chunk has
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
  unsigned window;         ///< segments whose inputs are in shared memory together
  unsigned blocks;
  unsigned unit_tiles;
  Adding adding;
  std::size_t shared_bytes;

  TEMPERA_HOST_DEVICE unsigned ranges() const { return (units + job_units - 1) / job_units; }
  TEMPERA_HOST_DEVICE unsigned jobs() const { return ranges() * parts * chunks; }
  /// Sums of a segment that a token has in the scratch memory.
  TEMPERA_HOST_DEVICE unsigned token_sums() const { return units * unit_tiles * tile_outputs; }
  /// Floats of the scratch memory: the sums of every segment, if a result has several parts.
  std::size_t scratch_floats() const {
    return adding == Adding::own_block ? 0 : std::size_t{segments} * rows * token_sums();
  }
  /// Counters of finished parts, one per range and chunk; all zero between launches.
  std::size_t counters() const {
    return adding == Adding::last_block ? std::size_t{ranges()} * chunks : 0;
  }
  /// Blocks of add_segments, each with product_threads results. Of a gated product two sums of
  /// every segment make a result.
  TEMPERA_HOST_DEVICE unsigned adding_blocks(bool gated) const {
    const std::size_t results = std::size_t{rows} * token_sums() / (gated ? 2 : 1);
    return static_cast<unsigned>((results + product_threads - 1) / product_threads);
  }
};

/// The token tiles of 8 that a kernel for this many rows takes, if the device has room for their
/// inputs: 1, 2 or 4. Of 64 tokens the sums alone would leave no room for a second block.
constexpr unsigned token_tiles_for(unsigned rows) { return rows <= 8 ? 1 : rows <= 16 ? 2 : 4; }

/// The tiles of 16 outputs that a warp takes together: gate and up.
constexpr unsigned unit_tiles_for(bool gated) { return gated ? 2 : 1; }

constexpr unsigned quotient_up(unsigned a, unsigned b) { return (a + b - 1) / b; }

/// What the second phase of a plan costs its busiest multiprocessor: the sums that it reads from
/// the scratch memory, and how often one of its threads waits for such reads, the second-level
/// cache's latency each time. Zeros if a block adds its own.
struct SecondPhase {
  std::size_t sums;
  unsigned waits;
};
SecondPhase second_phase(const ProductPlan& plan, bool gated, unsigned multiprocessors);

/// The bytes that the busiest multiprocessor takes in and puts out, by which plans are ranked
/// before they are timed. A wait counts as a stage of the ring of weights. No rate of a card has a
/// part in it.
std::size_t busiest_bytes(const ProductPlan& plan, bool gated, unsigned multiprocessors);

/// How a matrix stores its weights.
enum class WeightForm : unsigned { fragments, quantised };

/// The plan of warpgroup_product of the least busiest_bytes, for one of warpgroup_blocks and
/// some number of parts; none if the device has no such steps or too little shared memory, or if
/// the inputs are not a multiple of 64.
std::optional<ProductPlan> plan_warpgroups(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                           bool gated, const ProductDevice& device);

/// Plans that are worth timing, at most so many, in the order of busiest_bytes: of chunks for the
/// largest chunks of tokens and then the deepest ring that the device has room for, and for weights
/// in fragments and more than 32 rows as many by steps of four warps.
/// @param tiles of 16 outputs that the matrix has; of a gated one, gate's and up's together
/// @throw BadInput if the device has too little shared memory for any cut
std::vector<ProductPlan> candidate_plans(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                         bool gated, const ProductDevice& device, WeightForm form,
                                         std::size_t most);

/// The first of the candidates: the cut of the least busiest_bytes, of those for the largest chunks
/// of tokens and then the deepest ring that the device has room for. For weights in fragments and
/// more than 32 rows plan_warpgroups, if that has fewer.
/// @param tiles of 16 outputs that the matrix has; of a gated one, gate's and up's together
/// @throw BadInput if the device has too little shared memory for any cut
ProductPlan plan_product(unsigned rows, unsigned in, unsigned out, unsigned tiles, bool gated,
                         const ProductDevice& device, WeightForm form = WeightForm::fragments);

}  // namespace tempera::gpu
