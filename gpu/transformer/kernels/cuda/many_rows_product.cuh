#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/transformer/kernels/cuda/product_layout.hpp"
#include "gpu/transformer/kernels/cuda/product_plan.hpp"
#include "gpu/transformer/kernels/cuda/weight_stream.cuh"

// y = W x for more than 64 rows, with the bits of `product`: segments of 512 inputs, each a chain
// of ascending steps of the tensor core from 0, the segments added in order by one thread.
//
// What differs is who reads what. A block has 128 outputs of 128 tokens, and every warp 64 of each:
// a weight that comes from memory or from the second-level cache is used for 128 tokens, and one
// that comes from shared memory for 64. Weights and inputs pass together through a ring of
// asynchronous copies, a stage of 32 inputs at a time, with one barrier a stage. The sums of a
// segment are in registers, and the total of the segments before it in shared memory.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// What one thread copies of every stage: a lane's part of a tile of weights or two, and 16 bytes
/// of some tokens' inputs. Where the matrix or the batch ends, the last tile and the last row are
/// copied again; nobody stores what becomes of them.
template <class Layout, bool Gated>
struct StageCopies {
  static constexpr unsigned own_tiles = Layout::tiles / Layout::warps;
  static constexpr unsigned row_copies = Layout::tokens * Layout::row_vectors;
  static constexpr unsigned own_rows = (row_copies + Layout::threads - 1) / Layout::threads;

  FragmentWeights::Tile tiles[own_tiles];
  const std::uint16_t* rows[own_rows];

  /// Which tile of the matrix is number `place` of the block's. If the product is gated, gate and
  /// up of a unit are neighbours.
  TEMPERA_ON_DEVICE static unsigned tile_at(const ProductPlan& plan, const ProductJob& job,
                                            unsigned place) {
    constexpr unsigned together = Gated ? 2 : 1;
    const unsigned unit = job.first_unit + place / together;
    const unsigned last = plan.units - 1;
    return (unit < last ? unit : last) + place % together * (plan.tiles / 2);
  }

  TEMPERA_ON_DEVICE StageCopies(const ProductPlan& plan, const ProductJob& job,
                                const ProductOperands& operands) {
    const FragmentWeights matrix = FragmentWeights::of(operands);
    TEMPERA_UNROLL
    for (unsigned i = 0; i < own_tiles; ++i) {
      tiles[i] = matrix.tile(tile_at(plan, job, simt::warp() * own_tiles + i), product_steps(plan));
    }
    const unsigned last = plan.rows - 1;
    TEMPERA_UNROLL
    for (unsigned i = 0; i < own_rows; ++i) {
      const unsigned token = job.chunk * Layout::tokens + token_of(i);
      rows[i] =
          operands.inputs.rows + std::size_t{token < last ? token : last} * plan.in + piece() * 8;
    }
  }

  TEMPERA_ON_DEVICE static unsigned piece() { return Layout::piece_of(simt::thread()); }
  TEMPERA_ON_DEVICE static unsigned token_of(unsigned i) {
    return i * Layout::rows_at_once + Layout::token_of(simt::thread());
  }

  TEMPERA_ON_DEVICE void ask_for_weights(unsigned stage, simt::Vector16* slot) const {
    TEMPERA_UNROLL
    for (unsigned i = 0; i < own_tiles; ++i) {
      const unsigned place = simt::warp() * own_tiles + i;
      FragmentWeights::fetch(tiles[i], 2 * stage, true, slot + place * Layout::tile_vectors);
    }
  }
  TEMPERA_ON_DEVICE void ask_for_inputs(unsigned stage, simt::Vector16* slot) const {
    TEMPERA_UNROLL
    for (unsigned i = 0; i < own_rows; ++i) {
      if (row_copies % Layout::threads != 0 && token_of(i) >= Layout::tokens) continue;
      simt::copy_async(slot + Layout::weight_vectors + Layout::input_place(token_of(i), piece()),
                       rows[i] + stage * Layout::stage_inputs);
    }
  }
};

/// What a warp has of a segment: 64 outputs of 64 tokens, lane 4 g + t outputs g and g + 8 of
/// tokens 2 t and 2 t + 1 of every tile of 16 and 8.
using WarpSums = float[ManyRowsLayout::warp_tiles][ManyRowsLayout::warp_token_tiles][4];

/// The steps of one stage, in order.
TEMPERA_ON_DEVICE inline void take_stage(const simt::Vector16* slot, WarpSums& sums) {
  using Layout = ManyRowsLayout;
  constexpr unsigned warps_of_outputs = Layout::tiles / Layout::warp_tiles;
  const unsigned lane = simt::lane();
  const simt::Vector16* const fragments =
      slot + simt::warp() % warps_of_outputs * Layout::warp_tiles * Layout::tile_vectors + lane;
  simt::Vector16 weights[Layout::warp_tiles][2];
  TEMPERA_UNROLL
  for (unsigned tile = 0; tile < Layout::warp_tiles; ++tile) {
    weights[tile][0] = fragments[tile * Layout::tile_vectors];
    weights[tile][1] = fragments[tile * Layout::tile_vectors + simt::warp_lanes];
  }
  const simt::Vector16* const inputs = slot + Layout::weight_vectors;
  const unsigned first = simt::warp() / warps_of_outputs * Layout::warp_token_tiles * 8;
  TEMPERA_UNROLL
  for (unsigned tokens = 0; tokens < Layout::warp_token_tiles; ++tokens) {
    // Lane l gives row l % 8 of matrix l / 8: eight tokens, eight inputs each.
    const simt::Vector16 both =
        simt::load_matrices(inputs + Layout::input_place(first + tokens * 8 + lane % 8, lane / 8));
    TEMPERA_UNROLL
    for (unsigned tile = 0; tile < Layout::warp_tiles; ++tile) {
      simt::tensor_core_step(sums[tile][tokens], weights[tile][0], both.x, both.y);
      simt::tensor_core_step(sums[tile][tokens], weights[tile][1], both.z, both.w);
    }
  }
}

/// Adds a segment's sums to the totals, which are this thread's own.
TEMPERA_ON_DEVICE inline void add_segment(const WarpSums& sums, bool is_first, float* total) {
  using Layout = ManyRowsLayout;
  TEMPERA_UNROLL
  for (unsigned tile = 0; tile < Layout::warp_tiles; ++tile) {
    TEMPERA_UNROLL
    for (unsigned tokens = 0; tokens < Layout::warp_token_tiles; ++tokens) {
      TEMPERA_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        float* const place = total + Layout::sum_place(simt::warp(), tile, tokens, i, simt::lane());
        *place = is_first ? sums[tile][tokens][i] : *place + sums[tile][tokens][i];
      }
    }
  }
}

/// Hands the totals to the epilogue: sixteen neighbouring threads have a tile of one token.
template <class Layout, class Epilogue>
TEMPERA_ON_DEVICE inline void finish_results(const ProductPlan& plan, const ProductJob& job,
                                             const float* total, const Epilogue& epilogue) {
  constexpr unsigned together = Epilogue::gated ? 2 : 1;  // tiles that make a result
  constexpr unsigned token_results = Layout::tiles / together * tile_outputs;
  constexpr unsigned tokens_at_once = Layout::threads / token_results;
  const unsigned unit = simt::thread() % token_results / tile_outputs;
  const unsigned output = simt::thread() % tile_outputs;
  const unsigned index = (job.first_unit + unit) * tile_outputs + output;
  const bool there = unit < job.units && index < plan.out;
  const unsigned first_token = job.chunk * Layout::tokens;
  const unsigned left = plan.rows - first_token;
  const unsigned tokens = left < Layout::tokens ? left : Layout::tokens;
  const auto sum = [&](unsigned token, unsigned tile) {
    return total[Layout::result_place(unit * together + tile, output, token)];
  };
  // A warp has results of one token, so all of it goes round together.
  if constexpr (Epilogue::adds) {
    constexpr unsigned asked_together = 8;
    for (unsigned begin = simt::thread() / token_results; begin < tokens;
         begin += asked_together * tokens_at_once) {
      float before[asked_together] = {};
      TEMPERA_UNROLL
      for (unsigned i = 0; i < asked_together; ++i) {
        const unsigned token = begin + i * tokens_at_once;
        if (there && token < tokens) before[i] = epilogue.before(plan, first_token + token, index);
      }
      TEMPERA_UNROLL
      for (unsigned i = 0; i < asked_together; ++i) {
        const unsigned token = begin + i * tokens_at_once;
        if (there && token < tokens)
          epilogue.store(plan, first_token + token, index, before[i] + sum(token, 0));
      }
    }
  } else {
    for (unsigned token = simt::thread() / token_results; token < tokens; token += tokens_at_once) {
      float values[2] = {};
      TEMPERA_UNROLL
      for (unsigned tile = 0; tile < together; ++tile) values[tile] = sum(token, tile);
      epilogue(plan, first_token + token, index, values, there);
    }
  }
}

/// One block's outputs and tokens. Grid: plan.blocks, a block for each job; threads and shared
/// memory: ManyRowsLayout's.
template <class Epilogue>
TEMPERA_KERNEL(ManyRowsLayout::threads, 2)
many_rows_product(const ProductPlan plan, const ProductOperands operands, const Epilogue epilogue) {
  using Layout = ManyRowsLayout;
  constexpr unsigned ahead = Layout::stages - 1;
  auto* const ring = simt::shared_memory<simt::Vector16>();
  auto* const total = simt::shared_memory<float>(Layout::ring_bytes);

  simt::let_next_begin();
  const ProductJob job = ProductJob::at(plan, simt::block().x);
  const StageCopies<Layout, Epilogue::gated> copies(plan, job, operands);
  const unsigned stages = plan.in / Layout::stage_inputs;
  for (unsigned stage = 0; stage < ahead && stage < stages; ++stage) {
    copies.ask_for_weights(stage, ring + stage * Layout::stage_vectors);
  }
  simt::wait_for_inputs();  // the weights were there before; all else is the launches' before this
  for (unsigned stage = 0; stage < ahead; ++stage) {
    if (stage < stages) copies.ask_for_inputs(stage, ring + stage * Layout::stage_vectors);
    simt::commit_copies();
  }

  const simt::Vector16* used = ring;                               // the next stage to be taken
  simt::Vector16* fetched = ring + ahead * Layout::stage_vectors;  // where the next copies go
  simt::Vector16* const ring_end = ring + Layout::stages * Layout::stage_vectors;
  TEMPERA_NO_UNROLL
  for (unsigned begin = 0; begin < stages; begin += Layout::segment_stages) {
    const unsigned left = stages - begin;
    const unsigned end = begin + (left < Layout::segment_stages ? left : Layout::segment_stages);
    WarpSums sums = {};
    TEMPERA_NO_UNROLL
    for (unsigned stage = begin; stage < end; ++stage) {
      simt::wait_copies<static_cast<int>(ahead) - 1>();
      // All copies of the stage are there, and all have read the stage before, into whose place the
      // next copies go.
      simt::barrier();
      if (stage + ahead < stages) {
        copies.ask_for_weights(stage + ahead, fetched);
        copies.ask_for_inputs(stage + ahead, fetched);
      }
      simt::commit_copies();
      take_stage(used, sums);
      used += Layout::stage_vectors;
      if (used == ring_end) used = ring;
      fetched += Layout::stage_vectors;
      if (fetched == ring_end) fetched = ring;
    }
    add_segment(sums, begin == 0, total);
  }
  simt::barrier();  // every thread's totals are there
  finish_results<Layout>(plan, job, total, epilogue);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
