#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/llm/transformer/kernels/cuda/attention.cuh"
#include "gpu/llm/transformer/kernels/cuda/product.cuh"
#include "gpu/llm/transformer/kernels/cuda/product_epilogues.cuh"

// All layers of a dense decoder in one kernel, for a step of few rows, whose time is that of the
// weights to come. Between two kernels memory is idle: the last blocks of one end, those of the
// next begin, and their first weights take their time. Here the same blocks go through all
// products and attentions, phase by phase. A block that has used its last weights of a product asks
// the second-level cache for its first ones of the next product. When it has ended the phase it
// asks for those that its ring has room for, and only then waits for the other blocks.
//
// Each phase is what its own kernel would do, by the same functions (multiply_jobs, attend_group),
// so no bit changes.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Queries of a key head that a block takes at a time. With fewer of them it computes what nobody
/// reads, and with more two blocks read the same keys: among few rows neither is what attention
/// waits for.
constexpr unsigned joined_queries = 4;

/// A product of every layer: how it is cut, and how many jobs that gives.
struct LayerProduct {
  ProductPlan plan;
  unsigned jobs;
};

/// What a layer has of its own.
struct LayerOperands {
  const simt::Vector16* query_key_value;  // fragments
  const simt::Vector16* attention_output;
  const simt::Vector16* gate_up;
  const simt::Vector16* down;
  const float* input_norm;
  const float* post_attention_norm;
  const float* bias;        // of queries, keys and values; may be null
  const float* query_norm;  // may be null, as key_norm
  const float* key_norm;
  std::byte* keys;  // PagePart::first
  std::byte* values;
};

/// A kernel's arguments are 4 KiB at most. A step of more layers is several launches.
constexpr unsigned layers_together = 32;

/// Steps of weights, 512 bytes each, that a warp asks the second-level cache for at a time: of all
/// blocks together, 17 MB on an H200, which take 4 microseconds to come. So long memory would
/// otherwise wait for blocks that meet, for norms, and for inputs.
constexpr unsigned steps_ahead = 16;

/// The order in which blocks ask for their next operands, and how they meet. Bits stay.
struct JoinedOrder {
  unsigned most_ahead = 2 * steps_ahead;  ///< that a warp asks for before the first is used
  bool keys_first = false;                ///< before attention, the first keys, and then weights
  bool idle_blocks = false;  ///< while a layer attends, more than steps_ahead by idle blocks alone
  bool acquires = false;     ///< in place of fences
};

/// The layers of a launch, and what they share.
struct DenseLayers {
  unsigned count;
  LayerProduct query_key_value;
  LayerProduct additions[2];  // of the attention's output, of the inner layer's
  LayerProduct gate_up;
  AttentionWork attention;  // without what a layer has of its own
  unsigned query_groups;    // of a row
  float* states;            // [rows, hidden size]
  float* projected;         // [rows, attention.shape.row_floats]
  std::uint16_t* gated;     // [rows, intermediate size]
  float epsilon;
  float* scratch;              // of products
  std::uint32_t* counters;     // of products, as ProductOperands has them
  std::uint32_t* phases_left;  // InputsOfPhase
  LayerOperands layers[layers_together];
  JoinedOrder tried;  // of the kernel for trials
};
static_assert(sizeof(DenseLayers) <= 4096);

/// AddProduct, to what an earlier phase has left.
struct AddInLayer : AddProduct {
  TEMPERA_ON_DEVICE void operator()(const ProductPlan& plan, unsigned token, unsigned output,
                                    const float (&sums)[2], bool there) const {
    if (there) store(plan, token, output, before(plan, token, output) + sums[0]);
  }
  TEMPERA_ON_DEVICE float before(const ProductPlan& plan, unsigned token, unsigned output) const {
    return simt::load_written(outputs + std::size_t{token} * plan.out + output);
  }
};

/// Asks the second-level cache for weights of a product that this warp will use first: the steps
/// from `begin` up to `end`. Not by a WeightCursor: its way to later jobs would spill registers
/// here.
template <unsigned UnitTiles, bool Gated>
TEMPERA_ON_DEVICE inline void ask_for_weights(const LayerProduct& product,
                                              const simt::Vector16* fragments, unsigned begin,
                                              unsigned end) {
  using Cursor = WeightCursor<UnitTiles, Gated, FragmentWeights>;
  if (simt::block().x >= product.jobs) return;
  const ProductPlan& plan = product.plan;
  const ProductJob job = ProductJob::at(plan, simt::block().x);
  const UnitWalk walk(job.units);
  if (walk.segment >= job.window_segments(plan, job.segment_begin)) return;
  const unsigned segment = job.segment_begin + walk.segment;
  const unsigned most = (end - begin) / UnitTiles;
  const unsigned asked_for = begin / UnitTiles;
  const unsigned of_segment = steps_of_segment(plan, segment);
  if (of_segment <= asked_for) return;
  const unsigned left = of_segment - asked_for;
  const unsigned steps = left < most ? left : most;
  TEMPERA_NO_UNROLL
  for (unsigned tile = 0; tile < UnitTiles; ++tile) {
    const auto weights = FragmentWeights{fragments}.tile(
        Cursor::tile_of(plan, job.first_unit + walk.unit, tile), product_steps(plan));
    FragmentWeights::prefetch(weights, segment * segment_steps + asked_for, steps);
  }
}

/// One product of a layer, as a phase; two, if a result's segments are added by the whole device.
/// ask_ahead: as multiply_jobs calls it.
template <unsigned UnitTiles, class Epilogue, class Phase, class AskAhead>
TEMPERA_ON_DEVICE inline void multiply_in_layer(const LayerProduct& product,
                                                const simt::Vector16* fragments,
                                                const StagedRows& inputs, const DenseLayers& all,
                                                const Epilogue& epilogue, Phase& phase,
                                                const AskAhead& ask_ahead) {
  const ProductPlan& plan = product.plan;
  if (simt::block().x < product.jobs) {
    multiply_jobs<1, UnitTiles, FragmentWeights>(
        plan, ProductOperands{fragments, inputs, all.scratch, all.counters}, epilogue, phase,
        ask_ahead);
  } else {
    ask_ahead();
    phase.wait();
  }
  phase.leave();
  if (plan.adding != Adding::next_kernel) return;
  phase.wait();
  const unsigned blocks = plan.adding_blocks(Epilogue::gated);
  for (unsigned block = simt::block().x; block < blocks; block += simt::blocks().x)
    add_results(plan, all.scratch, epilogue, block);
  phase.leave();
}

TEMPERA_ON_DEVICE inline unsigned attention_tasks(const DenseLayers& all) {
  return all.attention.scratch.splits * all.query_groups *
         static_cast<unsigned>(all.attention.batch.rows);
}

/// Attention of a layer, as a phase. Every row is alone in its blocks. A block asks for the keys of
/// its first task before it calls before_it_waits() and waits for the other blocks: they were there
/// before the launch.
template <unsigned Pairs, class Elements, class Phase, class BeforeItWaits>
TEMPERA_ON_DEVICE inline void attend_in_layer(const DenseLayers& all, const LayerOperands& layer,
                                              Phase& phase, const BeforeItWaits& before_it_waits) {
  AttentionWork work = all.attention;
  work.rotation.query_norm = layer.query_norm;
  work.rotation.key_norm = layer.key_norm;
  work.keys.first = layer.keys;
  work.values.first = layer.values;
  bool waits = true;
  const auto wait = [&] {
    if (waits) {
      before_it_waits();
      phase.wait();
    }
    waits = false;
  };
  const unsigned splits = work.scratch.splits;
  const unsigned of_row = splits * all.query_groups;
  const unsigned tasks = attention_tasks(all);
  for (unsigned number = simt::block().x; number < tasks; number += simt::blocks().x) {
    const unsigned row = number / of_row;
    const unsigned in_row = number - row * of_row;
    const unsigned queries = in_row / splits;
    if (!waits) simt::barrier();  // the shared memory was the last task's
    attend_group<Pairs, joined_queries, 1, Elements>(
        work, RowGroup{nullptr, row, 1},
        AttentionTask{in_row - queries * splits, queries, all.query_groups}, phase, wait);
  }
  wait();
  phase.leave();
}

/// For every layer:
///   projected = norm(states) W_qkv + bias
///   attended = attention(rotated queries, keys and values), these into the pages
///   states += attended W_o
///   gated = silu(norm(states) W_gate) · norm(states) W_up
///   states += gated W_down
/// Every row is of a record of its own, and there are 8 at most. Head size: at most 64 · Pairs.
///
/// Grid: any number of blocks that run together; threads: product_threads. Shared memory: of the
/// largest phase. Meeting: Fences, and the order is that which ships; TriedMeeting, and it is
/// all.tried.
template <unsigned Pairs, class Elements, class Meeting>
TEMPERA_KERNEL(product_threads, product_blocks_together)
run_dense_layers(TEMPERA_GRID_CONSTANT const DenseLayers all) {
  static_assert(attention_threads == product_threads);
  constexpr bool is_tried = !std::is_same_v<Meeting, Fences>;
  const JoinedOrder order = is_tried ? all.tried : JoinedOrder{};
  const bool is_limited = order.most_ahead < 2 * steps_ahead;
  InputsOfPhase<Meeting> phase(all.phases_left, Meeting{order.acquires});
  TEMPERA_NO_UNROLL
  for (unsigned half = 0; half < 2 * all.count; ++half) {
    const LayerOperands& layer = all.layers[half / 2];
    const bool attends = half % 2 == 0;
    const LayerProduct& addition = all.additions[half % 2];
    const simt::Vector16* const added = attends ? layer.attention_output : layer.down;
    const auto ask_for_added = [&] {
      ask_for_weights<1, false>(addition, added, 0, steps_ahead);
      // While a layer attends, memory has time for all of them.
      if (attends && !(order.idle_blocks && simt::block().x < attention_tasks(all)))
        ask_for_weights<1, false>(addition, added, steps_ahead, order.most_ahead);
    };
    const auto ask_for_gate_up = [&](unsigned begin, unsigned end) {
      ask_for_weights<2, true>(all.gate_up, layer.gate_up, begin, end);
    };
    if (attends) {
      multiply_in_layer<1>(all.query_key_value, layer.query_key_value,
                           {nullptr, all.states, layer.input_norm, all.epsilon}, all,
                           StoreProduct{all.projected, layer.bias}, phase, [&] {
                             if (!order.keys_first) ask_for_added();
                           });
      attend_in_layer<Pairs, Elements>(all, layer, phase, [&] {
        if (order.keys_first) ask_for_added();
      });
      // Those of the attention's output are in the cache already.
      if (!is_limited) ask_for_gate_up(0, steps_ahead);
    } else {
      multiply_in_layer<2>(all.gate_up, layer.gate_up,
                           {nullptr, all.states, layer.post_attention_norm, all.epsilon}, all,
                           GateProduct{all.gated}, phase, ask_for_added);
    }
    multiply_in_layer<1>(
        addition, added, {attends ? all.attention.attended : all.gated, nullptr, nullptr, 0}, all,
        AddInLayer{all.states}, phase, [&] {
          if (attends) {
            ask_for_gate_up(is_limited ? 0 : steps_ahead, order.most_ahead);
          } else if (half / 2 + 1 < all.count) {
            ask_for_weights<1, false>(all.query_key_value, all.layers[half / 2 + 1].query_key_value,
                                      0, steps_ahead);
          }
        });
  }
  phase.end();
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
