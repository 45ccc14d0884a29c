#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/kernels/cuda/packed_weights.cuh"
#include "gpu/llm/transformer/kernels/cuda/product_layout.hpp"

// The jobs of a product, and the ring through which each warp's weights come.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// The inputs of a product: rows as they are, or rows that it normalises while it stages them; see
/// normalizes_inputs.
struct StagedRows {
  const std::uint16_t* rows = nullptr;  // [rows, in], bfloat16; null if they are normalised
  const float* states = nullptr;        // [rows, in]
  const float* weight = nullptr;        // [in]
  float epsilon = 0;
};

/// The operands of a product.
struct ProductOperands {
  const simt::Vector16* fragments;  // [tiles, steps, 32]
  StagedRows inputs;
  float* scratch;           // [segments, rows, units, unit tiles, 16] if parts > 1
  std::uint32_t* counters;  // [ranges, chunks] if the last block adds
  // In place of fragments, as MatrixView has them.
  const std::byte* quantised = nullptr;
  const std::uint64_t* blocks = nullptr;
};

/// How a product takes weights as fragments.
struct FragmentWeights {
  static constexpr bool across_lanes = false;

  const simt::Vector16* fragments;

  TEMPERA_ON_DEVICE static FragmentWeights of(const ProductOperands& operands) {
    return {operands.fragments};
  }
  struct Tile {
    const simt::Vector16* begin;
  };
  TEMPERA_ON_DEVICE Tile tile(unsigned tile, unsigned steps) const {
    return {fragments + std::size_t{tile} * steps * simt::warp_lanes + simt::lane()};
  }
  TEMPERA_ON_DEVICE static void fetch(const Tile& tile, unsigned step, bool has_second,
                                      simt::Vector16* slot) {
    const simt::Vector16* const source = tile.begin + step * simt::warp_lanes;
    simt::Vector16* const target = slot + simt::lane();
    simt::copy_stream_async(target, source);
    if (has_second) {
      simt::copy_stream_async(target + simt::warp_lanes, source + simt::warp_lanes);
    }
  }
  /// Asks the second-level cache for so many steps; by a whole warp.
  TEMPERA_ON_DEVICE static void prefetch(const Tile& tile, unsigned step, unsigned steps) {
    constexpr unsigned step_bytes = simt::warp_lanes * sizeof(simt::Vector16);
    simt::prefetch(tile.begin - simt::lane() + step * simt::warp_lanes, steps * step_bytes);
  }
  TEMPERA_ON_DEVICE static void take(const Tile& /*tile*/, const simt::Vector16* slot,
                                     simt::Vector16 (&weights)[2]) {
    weights[0] = slot[simt::lane()];
    weights[1] = slot[simt::warp_lanes + simt::lane()];
  }
};

/// A job: some neighbouring units of outputs, some segments, a chunk of the tokens. Chunks are
/// innermost, so that blocks that read the same weights do so at about the same time.
struct ProductJob {
  unsigned chunk;
  unsigned range;
  unsigned first_unit;
  unsigned units;
  unsigned segment_begin;
  unsigned segment_end;

  TEMPERA_ON_DEVICE static ProductJob at(const ProductPlan& plan, unsigned job) {
    ProductJob result;
    // No copy can be asked for before this, and a division takes as long as some twenty additions.
    unsigned of_chunk = job;
    result.chunk = 0;
    if (plan.chunks > 1) {
      of_chunk = job / plan.chunks;
      result.chunk = job - of_chunk * plan.chunks;
    }
    unsigned part = 0;
    result.range = of_chunk;
    if (plan.parts > 1) {
      result.range = of_chunk / plan.parts;
      part = of_chunk - result.range * plan.parts;
    }
    result.first_unit = result.range * plan.job_units;
    const unsigned left = plan.units - result.first_unit;
    result.units = left < plan.job_units ? left : plan.job_units;
    result.segment_begin = part * plan.part_segments;
    const unsigned end = result.segment_begin + plan.part_segments;
    result.segment_end = end < plan.segments ? end : plan.segments;
    return result;
  }

  /// Segments of the window that begins there.
  TEMPERA_ON_DEVICE unsigned window_segments(const ProductPlan& plan, unsigned window_begin) const {
    const unsigned left = segment_end - window_begin;
    return left < plan.window ? left : plan.window;
  }
};

/// The units of a window that a warp takes: every eighth of all, segment by segment. Without a
/// division, which a warp would wait for in every unit.
struct UnitWalk {
  unsigned units;        ///< of outputs, of the job
  unsigned segment = 0;  ///< of the window
  unsigned unit;

  TEMPERA_ON_DEVICE explicit UnitWalk(unsigned job_units)
      : units(job_units), unit(simt::warp()), next_unit_(product_warps) {
    while (unit >= units) {
      unit -= units;
      ++segment;
    }
    while (next_unit_ >= units) {
      next_unit_ -= units;
      ++next_segment_;
    }
  }
  TEMPERA_ON_DEVICE void go_on() {
    segment += next_segment_;
    unit += next_unit_;
    if (unit < units) return;
    unit -= units;
    ++segment;
  }

 private:
  unsigned next_segment_ = 0;
  unsigned next_unit_;
};

TEMPERA_ON_DEVICE inline unsigned product_steps(const ProductPlan& plan) {
  return (plan.in + step_inputs - 1) / step_inputs;
}

/// Steps that the segment has.
TEMPERA_ON_DEVICE inline unsigned steps_of_segment(const ProductPlan& plan, unsigned segment) {
  const unsigned left = product_steps(plan) - segment * segment_steps;
  return left < segment_steps ? left : segment_steps;
}

/// The weights that one warp will need, stage by stage, from where it is on. What a stage needs of
/// its unit is found once a unit: with few warps, each instruction of a stage is waited for.
template <unsigned UnitTiles, bool Gated, class Weights>
struct WeightCursor {
  /// A stage holds two pairs of steps, 1 KiB each: of one tile, or of two.
  static constexpr unsigned stage_steps = 4 / UnitTiles;

  const ProductPlan& plan;
  const Weights weights;
  unsigned job_number;
  ProductJob job;
  unsigned window_begin;
  UnitWalk walk;  // of the window
  typename Weights::Tile tiles[UnitTiles];
  unsigned step = 0;  // of the matrix: the next to ask for
  unsigned left = 0;  // steps of the unit's segment not yet asked for; 0 when all is asked for

  /// @pre the block has a job
  TEMPERA_ON_DEVICE WeightCursor(const ProductPlan& product, const Weights& of_product)
      : plan(product),
        weights(of_product),
        job_number(simt::block().x),
        job(ProductJob::at(product, job_number)),
        window_begin(job.segment_begin),
        walk(job.units) {
    begin_unit();
  }

  /// Goes to the unit of `walk`, or to the first after it that there is.
  TEMPERA_ON_DEVICE void begin_unit() {
    while (walk.segment >= job.window_segments(plan, window_begin)) {
      window_begin += plan.window;
      if (window_begin >= job.segment_end) {
        job_number += simt::blocks().x;
        if (job_number >= plan.jobs()) return;
        job = ProductJob::at(plan, job_number);
        window_begin = job.segment_begin;
      }
      walk = UnitWalk(job.units);
    }
    const unsigned segment = window_begin + walk.segment;
    const unsigned unit = job.first_unit + walk.unit;
    TEMPERA_UNROLL
    for (unsigned tile = 0; tile < UnitTiles; ++tile) {
      tiles[tile] = weights.tile(tile_of(plan, unit, tile), product_steps(plan));
    }
    step = segment * segment_steps;
    left = steps_of_segment(plan, segment);
  }

  /// Asks for the first `steps` steps of a stage.
  TEMPERA_ON_DEVICE void ask_for_stage(simt::Vector16* stage, unsigned steps) {
    TEMPERA_UNROLL
    for (unsigned tile = 0; tile < UnitTiles; ++tile) {
      TEMPERA_UNROLL
      for (unsigned s = 0; s < stage_steps; s += 2) {
        if (s < steps) {
          Weights::fetch(tiles[tile], step + s, s + 1 < steps, stage + pair_of(s, tile));
        }
      }
    }
  }

  /// Asks for the next stage, and for nothing if there is none; one group of copies either way.
  TEMPERA_ON_DEVICE void fetch(simt::Vector16* stage) {
    if (left > 0) {
      if (left >= stage_steps) {
        ask_for_stage(stage, stage_steps);
      } else {
        ask_for_stage(stage, left);
      }
      step += stage_steps;
      left = left > stage_steps ? left - stage_steps : 0;
      if (left == 0) {
        walk.go_on();
        begin_unit();
      }
    }
    simt::commit_copies();
  }

  /// Gate and up if the product is gated, else neighbours; the last tile twice if they are
  /// odd.
  TEMPERA_ON_DEVICE static unsigned tile_of(const ProductPlan& plan, unsigned unit, unsigned tile) {
    if constexpr (Gated) return unit + tile * (plan.tiles / 2);
    const unsigned neighbour = unit * UnitTiles + tile;
    return neighbour < plan.tiles ? neighbour : plan.tiles - 1;
  }
  /// Where in a stage the steps s and s + 1 of a unit's tile are.
  TEMPERA_ON_DEVICE static constexpr unsigned pair_of(unsigned s, unsigned tile) {
    return (s / 2 * UnitTiles + tile) * pair_vectors;
  }
};

/// Waits for the oldest stage of a ring that is full but for one; how many groups of copies may
/// still be in flight is part of the instruction.
TEMPERA_ON_DEVICE inline void wait_for_stage(unsigned stages) {
  static_assert(sizeof ring_depths == 2 * sizeof(unsigned) && ring_depths[0] == 4 &&
                ring_depths[1] == 3);
  if (stages == 4) return simt::wait_copies<2>();
  simt::wait_copies<1>();
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
