#pragma once

#include <cstdint>

#include "gpu/device/simt/warpgroup_steps.hpp"
#include "gpu/transformer/kernels/cuda/many_rows_product.cuh"
#include "gpu/transformer/kernels/cuda/warpgroup_layout.hpp"

// y = W x for more than 32 rows by steps that four warps take together (wgmma), which Hopper alone
// has. The bits are those of `product`: segments of 512 inputs, each a chain of ascending steps of
// the tensor core from 0, the segments added in order by one thread.
//
// Weights go from the ring into registers as they are stored, for each warp has a tile of its own;
// the tensor cores read the inputs where they are in shared memory, once for 64 outputs. A group of
// steps is on its way while the copies of the next stage are waited for.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

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

/// One block's outputs and tokens, and some of their segments. Grid: plan.blocks, a block for each
/// job; threads and shared memory: WarpgroupLayout's. If the plan cuts the inputs, add_segments
/// ends the product.
template <class Layout, class Epilogue>
TEMPERA_KERNEL(Layout::threads, Layout::blocks_together)
warpgroup_product(const ProductPlan plan, const ProductOperands operands, const Epilogue epilogue) {
  constexpr unsigned ahead = Layout::stages - 1;
  auto* const ring = simt::shared_memory<simt::Vector16>();
  auto* const total = simt::shared_memory<float>(Layout::ring_bytes);

  simt::let_next_begin();
  const ProductJob job = ProductJob::at(plan, simt::block().x);
  const StageCopies<Layout, Epilogue::gated> copies(plan, job, operands);
  const unsigned begin = job.segment_begin * Layout::segment_stages;
  const unsigned all = plan.in / Layout::stage_inputs;
  const unsigned wanted = job.segment_end * Layout::segment_stages;
  const unsigned end = wanted < all ? wanted : all;
  for (unsigned i = 0; i < ahead && begin + i < end; ++i) {
    copies.ask_for_weights(begin + i, ring + i * Layout::stage_vectors);
  }
  simt::wait_for_inputs();  // the weights were there before; all else is the launches' before this
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
