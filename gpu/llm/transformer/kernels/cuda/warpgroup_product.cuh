#pragma once

#include <cstdint>

#include "gpu/device/simt/warpgroup_steps.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_layout.hpp"
#include "gpu/llm/transformer/kernels/cuda/weight_stream.cuh"

// y = W x for more than 32 rows by steps that four warps take together (wgmma), which Hopper alone
// has. The bits are those of `product`: segments of 512 inputs, each a chain of ascending steps of
// the tensor core from 0, the segments added in order by one thread.
//
// Weights go from the ring into registers as they are stored, for each warp has a tile of its own;
// the tensor cores read the inputs where they are in shared memory, once for 64 outputs. A group of
// steps is on its way while the copies of the next stage are waited for.

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

/// A warp's weights of one stage, as its steps take them.
template <class Layout>
TEMPERA_ON_DEVICE inline void load_weights(const simt::Vector16* slot,
                                           simt::Vector16 (&weights)[2]) {
  const simt::Vector16* const own = slot + simt::warp() * Layout::tile_vectors + simt::lane();
  weights[0] = own[0];
  weights[1] = own[simt::warp_lanes];
}

/// The steps of one stage, in order; they end some time before they are waited for.
template <class Layout>
TEMPERA_ON_DEVICE inline void ask_for_steps(const simt::Vector16* slot,
                                            const simt::Vector16 (&weights)[2],
                                            float (&sums)[Layout::sums]) {
  const simt::Vector16* const inputs = slot + Layout::weight_vectors;
  constexpr unsigned step_vectors = 2 * simt::core_matrix_bytes / 16;
  simt::begin_warpgroup_steps(sums);
  simt::warpgroup_step(sums, weights[0], inputs, Layout::next_tokens);
  simt::warpgroup_step(sums, weights[1], inputs + step_vectors, Layout::next_tokens);
  simt::commit_warpgroup_steps();
}

/// Adds a segment's sums to the totals, which are this thread's own.
template <class Layout>
TEMPERA_ON_DEVICE inline void add_to_total(const float (&sums)[Layout::sums], bool is_first,
                                           float* total) {
  TEMPERA_UNROLL
  for (unsigned i = 0; i < Layout::sums; ++i) {
    float* const place = total + Layout::sum_place(simt::warp(), i, simt::lane());
    *place = is_first ? sums[i] : *place + sums[i];
  }
}

/// Leaves a segment's sums in the scratch memory, for add_segments.
template <class Layout, bool Gated>
TEMPERA_ON_DEVICE inline void store_segment(const ProductPlan& plan, const ProductJob& job,
                                            unsigned segment, const float (&sums)[Layout::sums],
                                            float* scratch) {
  constexpr unsigned together = Gated ? 2 : 1;
  const unsigned warp = simt::warp();
  if (warp / together >= job.units) return;
  const unsigned g = simt::lane() / 4;
  const unsigned t = simt::lane() % 4;
  const unsigned column = (job.first_unit * together + warp) * tile_outputs + g;
  const unsigned first = job.chunk * Layout::tokens + 2 * t;
  float* const of_segment = scratch + std::size_t{segment} * plan.rows * plan.token_sums() + column;
  TEMPERA_UNROLL
  for (unsigned i = 0; i < Layout::sums; ++i) {
    const unsigned token = first + i / 4 * 8 + i % 2;
    if (token < plan.rows)
      of_segment[std::size_t{token} * plan.token_sums() + i / 2 % 2 * 8] = sums[i];
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

/// One block's outputs and tokens, and some of their segments. Grid: plan.blocks, a block for each
/// job; threads and shared memory: WarpgroupLayout's. If the plan cuts the inputs, add_segments
/// ends the product.
template <class Layout, class Epilogue>
TEMPERA_KERNEL(Layout::threads, Layout::blocks_together)
warpgroup_product(const ProductPlan plan, const ProductOperands operands, const Epilogue epilogue) {
  constexpr unsigned ahead = Layout::stages - 1;
  auto* const ring = simt::shared_memory<simt::Vector16>();
  auto* const total = simt::shared_memory<float>(Layout::ring_bytes);

  const ProductJob job = ProductJob::at(plan, simt::block().x);
  const StageCopies<Layout, Epilogue::gated> copies(plan, job, operands);
  const unsigned begin = job.segment_begin * Layout::segment_stages;
  const unsigned all = plan.in / Layout::stage_inputs;
  const unsigned wanted = job.segment_end * Layout::segment_stages;
  const unsigned end = wanted < all ? wanted : all;
  for (unsigned i = 0; i < ahead && begin + i < end; ++i) {
    copies.ask_for_weights(begin + i, ring + i * Layout::stage_vectors);
  }
  for (unsigned i = 0; i < ahead; ++i) {
    if (begin + i < end) copies.ask_for_inputs(begin + i, ring + i * Layout::stage_vectors);
    simt::commit_copies();
  }

  float sums[Layout::sums];
  // Those of two stages by turns: the steps of one read its weights while the other's are loaded.
  simt::Vector16 weights[2][2];
  const simt::Vector16* used = ring;                               // the stage that is taken
  simt::Vector16* fetched = ring + ahead * Layout::stage_vectors;  // where the next copies go
  simt::Vector16* const ring_end = ring + Layout::stages * Layout::stage_vectors;
  const auto next_in_ring = [&](auto* slot) {
    slot += Layout::stage_vectors;
    return slot == ring_end ? ring : slot;
  };
  simt::wait_copies<static_cast<int>(ahead) - 1>();
  simt::show_copies_to_steps();
  simt::barrier();  // all copies of the first stage are there
  load_weights<Layout>(used, weights[0]);
  // While the steps of a stage are on their way, the next stage is made ready.
  const auto take_stage = [&](unsigned stage, const simt::Vector16(&own)[2],
                              simt::Vector16(&next)[2]) {
    ask_for_steps<Layout>(used, own, sums);
    simt::wait_copies<static_cast<int>(ahead) - 2>();
    simt::show_copies_to_steps();
    // All copies of the next stage are there, and the steps of the stage before have ended: the
    // copies that are asked for now go to its place.
    simt::barrier();
    if (stage + ahead < end) {
      copies.ask_for_weights(stage + ahead, fetched);
      copies.ask_for_inputs(stage + ahead, fetched);
    }
    simt::commit_copies();
    used = next_in_ring(used);
    fetched = next_in_ring(fetched);
    load_weights<Layout>(used, next);
    simt::wait_warpgroup_steps<0>(sums);
  };
  TEMPERA_NO_UNROLL
  for (unsigned segment = job.segment_begin; segment < job.segment_end; ++segment) {
    const unsigned first = segment * Layout::segment_stages;
    const unsigned left = end - first;
    const unsigned last = first + (left < Layout::segment_stages ? left : Layout::segment_stages);
    TEMPERA_UNROLL
    for (float& sum : sums) sum = 0;
    TEMPERA_NO_UNROLL
    for (unsigned stage = first; stage < last; stage += 2) {
      take_stage(stage, weights[0], weights[1]);
      take_stage(stage + 1, weights[1], weights[0]);
    }
    if (plan.adding == Adding::own_block) {
      add_to_total<Layout>(sums, segment == 0, total);
    } else {
      store_segment<Layout, Epilogue::gated>(plan, job, segment, sums, operands.scratch);
    }
  }
  if (plan.adding != Adding::own_block) return;
  simt::barrier();  // every thread's totals are there
  finish_results<Layout>(plan, job, total, epilogue);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
