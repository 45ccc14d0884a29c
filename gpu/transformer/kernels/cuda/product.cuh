#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/transformer/kernels/cuda/product_layout.hpp"

// y = W x for every batch size, by one contract (docs/arithmetic.md): segments of 512 inputs, each
// a chain of ascending steps of the tensor core from 0, the segments added in order.
//
// The weights are the M operand. They stream through a ring of asynchronous copies that waits for
// nothing else: each lane copies its own registers' 16 bytes and reads back only those, and the
// ring runs on across units, windows and jobs. The inputs of a window of segments lie in shared
// memory for all warps. Which block or warp computes a segment changes nothing in it, and segments
// are added in ascending order by whoever adds them: in shared memory where a job has all of them,
// else in scratch memory, by the block that comes last.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// The operands of a product.
struct ProductOperands {
  const simt::Vector16* fragments;  // [tiles, steps, 32]
  const std::uint16_t* inputs;      // [rows, in], bfloat16
  float* scratch;                   // [segments, rows, units, unit tiles, 16] where parts > 1
  std::uint32_t* counters;          // [ranges, chunks] where parts > 1
};

/// A job: some neighbouring units of outputs, some segments, a chunk of the tokens. Chunks lie
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
    result.chunk = job % plan.chunks;
    const unsigned part = job / plan.chunks % plan.parts;
    result.range = job / plan.chunks / plan.parts;
    result.first_unit = result.range * plan.job_units;
    const unsigned left = plan.units - result.first_unit;
    result.units = left < plan.job_units ? left : plan.job_units;
    result.segment_begin = part * plan.part_segments;
    const unsigned end = result.segment_begin + plan.part_segments;
    result.segment_end = end < plan.segments ? end : plan.segments;
    return result;
  }

  /// Units of outputs times segments of the window that begins there.
  TEMPERA_ON_DEVICE unsigned window_work(const ProductPlan& plan, unsigned window_begin) const {
    const unsigned left = segment_end - window_begin;
    return (left < plan.window ? left : plan.window) * units;
  }
};

TEMPERA_ON_DEVICE inline unsigned product_steps(const ProductPlan& plan) {
  return (plan.in + step_inputs - 1) / step_inputs;
}

/// Steps that the segment has.
TEMPERA_ON_DEVICE inline unsigned steps_of_segment(const ProductPlan& plan, unsigned segment) {
  const unsigned left = product_steps(plan) - segment * segment_steps;
  return left < segment_steps ? left : segment_steps;
}

/// The weights that one warp will need, stage by stage, from where it is on.
template <unsigned UnitTiles, bool Gated>
struct WeightCursor {
  /// A stage holds four fragments: four steps of one tile, or two of two.
  static constexpr unsigned stage_steps = 4 / UnitTiles;

  const ProductPlan& plan;
  unsigned job_number;
  ProductJob job{};
  unsigned window_begin = 0;
  unsigned work = 0;  // of the window, segment-major; this warp has every eighth
  unsigned step = 0;  // within the segment

  TEMPERA_ON_DEVICE WeightCursor(const ProductPlan& product)
      : plan(product), job_number(simt::block().x) {
    if (ended()) return;
    job = ProductJob::at(plan, job_number);
    window_begin = job.segment_begin;
    work = simt::warp();
    step = 0;
    skip_finished();
  }

  TEMPERA_ON_DEVICE bool ended() const { return job_number >= plan.jobs(); }

  TEMPERA_ON_DEVICE void skip_finished() {
    while (work >= job.window_work(plan, window_begin)) {
      work = simt::warp();
      window_begin += plan.window;
      if (window_begin < job.segment_end) continue;
      job_number += simt::blocks().x;
      if (ended()) return;
      job = ProductJob::at(plan, job_number);
      window_begin = job.segment_begin;
    }
  }

  /// Asks for the next stage, and for nothing where there is none; one group of copies either way.
  TEMPERA_ON_DEVICE void fetch(const simt::Vector16* fragments, simt::Vector16* stage) {
    if (!ended()) {
      const unsigned segment = window_begin + work / job.units;
      const unsigned unit = job.first_unit + work % job.units;
      const unsigned steps = product_steps(plan);
      const unsigned segment_length = steps_of_segment(plan, segment);
      TEMPERA_UNROLL
      for (unsigned tile = 0; tile < UnitTiles; ++tile) {
        const simt::Vector16* source =
            fragments +
            (std::size_t{tile_of(unit, tile)} * steps + segment * segment_steps + step) * 32 +
            simt::lane();
        TEMPERA_UNROLL
        for (unsigned s = 0; s < stage_steps; ++s) {
          if (step + s < segment_length) {
            simt::copy_stream_async(stage + (s * UnitTiles + tile) * 32, source + s * 32);
          }
        }
      }
      step += stage_steps;
      if (step >= segment_length) {
        step = 0;
        work += product_warps;
        skip_finished();
      }
    }
    simt::commit_copies();
  }

  /// Gate and up where the product is gated, else neighbours; the last tile twice where they are
  /// odd.
  TEMPERA_ON_DEVICE unsigned tile_of(unsigned unit, unsigned tile) const {
    if constexpr (Gated) return unit + tile * (plan.tiles / 2);
    const unsigned neighbour = unit * UnitTiles + tile;
    return neighbour < plan.tiles ? neighbour : plan.tiles - 1;
  }
};

/// Brings the inputs of the window into shared memory: zeros for tokens and inputs that are not
/// there. By plain loads, so that the ring of weights goes on meanwhile.
template <unsigned TokenTiles>
TEMPERA_ON_DEVICE inline void stage_inputs(const ProductPlan& plan, const std::uint16_t* inputs,
                                           unsigned first_token, unsigned window_begin,
                                           unsigned window_end, std::uint16_t* shared) {
  using Layout = ProductLayout<TokenTiles>;
  constexpr unsigned piece = 8;  // inputs of 16 bytes
  constexpr unsigned row_pieces = segment_inputs / piece;
  const unsigned begin = window_begin * segment_inputs;
  const unsigned pieces = (window_end - window_begin) * Layout::tokens * row_pieces;
  TEMPERA_UNROLL_BY(4)
  for (unsigned p = simt::thread(); p < pieces; p += product_threads) {
    const unsigned row = p / row_pieces;  // segment-major, then tokens
    const unsigned input = p % row_pieces * piece;
    const unsigned token = first_token + row % Layout::tokens;
    const unsigned first = begin + row / Layout::tokens * segment_inputs + input;
    simt::Vector16 value{};
    if (token < plan.rows && first < plan.in) {
      const std::uint16_t* source = inputs + std::size_t{token} * plan.in + first;
      if (plan.in % piece == 0) {
        value = *reinterpret_cast<const simt::Vector16*>(source);
      } else {
        // Rows that are not aligned to 16 bytes, element by element.
        std::uint32_t words[4] = {};
        TEMPERA_UNROLL
        for (unsigned i = 0; i < piece; ++i) {
          if (first + i < plan.in) {
            words[i / 2] |= static_cast<std::uint32_t>(source[i]) << (i % 2 * 16);
          }
        }
        value = {words[0], words[1], words[2], words[3]};
      }
    }
    *reinterpret_cast<simt::Vector16*>(shared + row * Layout::input_pitch + input) = value;
  }
}

/// Waits for the oldest stage of a ring that is full but for one; how many groups of copies may
/// still be in flight is part of the instruction.
TEMPERA_ON_DEVICE inline void wait_for_stage(unsigned stages) {
  static_assert(sizeof ring_depths == 4 * sizeof(unsigned) && ring_depths[0] == 8 &&
                ring_depths[1] == 5 && ring_depths[2] == 4 && ring_depths[3] == 3);
  switch (stages) {
    case 8:
      return simt::wait_copies<6>();
    case 5:
      return simt::wait_copies<3>();
    case 4:
      return simt::wait_copies<2>();
    default:
      return simt::wait_copies<1>();
  }
}

/// One block's jobs. Grid: plan.blocks; threads: product_threads; shared memory: plan.shared_bytes.
template <unsigned TokenTiles, unsigned UnitTiles, class Epilogue>
TEMPERA_KERNEL(product_threads, 1)
product(const ProductPlan plan, const ProductOperands operands, const Epilogue epilogue) {
  using Layout = ProductLayout<TokenTiles>;
  using Cursor = WeightCursor<UnitTiles, Epilogue::gated>;
  constexpr unsigned stage_vectors = Layout::stage_fragments * 32;
  constexpr unsigned result_floats = UnitTiles * tile_outputs;
  static_assert(!Epilogue::gated || UnitTiles == 2);

  const unsigned lane = simt::lane();
  const unsigned ring_vectors = plan.stages * stage_vectors;
  auto* const ring = simt::shared_memory<simt::Vector16>() + simt::warp() * ring_vectors + lane;
  const std::size_t inputs_begin = Layout::ring_bytes(plan.stages);
  auto* const inputs = simt::shared_memory<std::uint16_t>(inputs_begin);
  auto* const total = simt::shared_memory<float>(inputs_begin + Layout::inputs_bytes(plan.window));
  const bool whole = plan.parts == 1;

  simt::let_next_begin();
  Cursor ahead(plan);
  unsigned fetched = 0;  // where in the ring the next stage goes
  for (; fetched < ring_vectors - stage_vectors; fetched += stage_vectors) {
    ahead.fetch(operands.fragments, ring + fetched);
  }
  simt::wait_for_inputs();  // the weights were there before; all else is the launches' before this

  unsigned used = 0;  // where in the ring the next stage comes from
  for (unsigned number = simt::block().x; number < plan.jobs(); number += simt::blocks().x) {
    const ProductJob job = ProductJob::at(plan, number);
    const unsigned first_token = job.chunk * Layout::tokens;
    const std::size_t sum_floats = Layout::sum_floats(job.units * UnitTiles);
    for (unsigned window_begin = job.segment_begin; window_begin < job.segment_end;
         window_begin += plan.window) {
      const unsigned work_end = job.window_work(plan, window_begin);
      const unsigned window_end = window_begin + work_end / job.units;
      simt::barrier();  // the window before has been read
      stage_inputs<TokenTiles>(plan, operands.inputs, first_token, window_begin, window_end,
                               inputs);
      simt::barrier();
      for (unsigned work = simt::warp(); work < work_end; work += product_warps) {
        const unsigned slot = work / job.units;
        const unsigned segment = window_begin + slot;
        const unsigned unit = work % job.units;
        const unsigned steps = steps_of_segment(plan, segment);
        float sums[UnitTiles][TokenTiles][4] = {};
        // Lane l gives row l % 8 of matrix l / 8: eight tokens, eight inputs each.
        const std::uint16_t* rows =
            inputs + (slot * Layout::tokens + lane % 8) * Layout::input_pitch + lane / 8 * 8;
        TEMPERA_NO_UNROLL
        for (unsigned step = 0; step < steps; step += Cursor::stage_steps) {
          wait_for_stage(plan.stages);
          const simt::Vector16* stage = ring + used;
          used = used + stage_vectors == ring_vectors ? 0 : used + stage_vectors;
          TEMPERA_UNROLL
          for (unsigned s = 0; s < Cursor::stage_steps; s += 2) {
            if (step + s >= steps) break;
            const bool second = step + s + 1 < steps;
            simt::Vector16 weights[2][UnitTiles];
            TEMPERA_UNROLL
            for (unsigned tile = 0; tile < UnitTiles; ++tile) {
              weights[0][tile] = stage[(s * UnitTiles + tile) * 32];
              weights[1][tile] = stage[((s + 1) * UnitTiles + tile) * 32];
            }
            TEMPERA_UNROLL
            for (unsigned tokens = 0; tokens < TokenTiles; ++tokens) {
              const simt::Vector16 both = simt::load_matrices(
                  rows + tokens * 8 * Layout::input_pitch + (step + s) * step_inputs);
              TEMPERA_UNROLL
              for (unsigned tile = 0; tile < UnitTiles; ++tile) {
                simt::tensor_core_step(sums[tile][tokens], weights[0][tile], both.x, both.y);
                if (second) {
                  simt::tensor_core_step(sums[tile][tokens], weights[1][tile], both.z, both.w);
                }
              }
            }
          }
          ahead.fetch(operands.fragments, ring + fetched);
          fetched = fetched + stage_vectors == ring_vectors ? 0 : fetched + stage_vectors;
        }
        // Lane 4 g + t holds outputs g and g + 8 of tokens 2 t and 2 t + 1 of every eight.
        TEMPERA_UNROLL
        for (unsigned tile = 0; tile < UnitTiles; ++tile) {
          TEMPERA_UNROLL
          for (unsigned tokens = 0; tokens < TokenTiles; ++tokens) {
            TEMPERA_UNROLL
            for (unsigned i = 0; i < 4; ++i) {
              const unsigned output = lane / 4 + i / 2 * 8;
              const unsigned token = tokens * 8 + lane % 4 * 2 + i % 2;
              const float sum = sums[tile][tokens][i];
              if (!whole) {
                if (first_token + token < plan.rows) {
                  const std::size_t row = std::size_t{segment} * plan.rows + first_token + token;
                  operands.scratch[(row * plan.units + job.first_unit + unit) * result_floats +
                                   tile * tile_outputs + output] = sum;
                }
                continue;
              }
              const std::size_t place =
                  ((unit * UnitTiles + tile) * Layout::tokens + token) * Layout::sum_pitch + output;
              if (plan.window > 1) {
                total[(slot + 1) * sum_floats + place] = sum;
              } else {
                total[place] = segment == 0 ? sum : total[place] + sum;
              }
            }
          }
        }
      }
      if (whole && plan.window > 1) {
        simt::barrier();
        for (std::size_t place = simt::thread(); place < sum_floats; place += product_threads) {
          float sum = total[place];
          for (unsigned segment = window_begin; segment < window_end; ++segment) {
            const float next = total[(segment - window_begin + 1) * sum_floats + place];
            sum = segment == 0 ? next : sum + next;
          }
          total[place] = sum;
        }
      }
    }

    if (!whole) {
      // The sums of this part are out; the block that finds all others' there adds them up.
      auto* const arrived = reinterpret_cast<std::uint32_t*>(total);
      std::uint32_t* const counter = operands.counters + job.range * plan.chunks + job.chunk;
      simt::fence();
      simt::barrier();
      if (simt::thread() == 0) {
        *arrived = simt::atomic_add(counter, 1U) + 1;
        if (*arrived == plan.parts) *counter = 0;
      }
      simt::barrier();
      if (*arrived != plan.parts) continue;
      simt::fence();
    } else {
      simt::barrier();
    }
    const unsigned left = plan.rows - first_token;
    const unsigned job_tokens = left < Layout::tokens ? left : Layout::tokens;
    // Sixteen neighbouring threads have the outputs of one tile; whole warps go round together.
    const unsigned elements = job_tokens * job.units * tile_outputs;
    const unsigned tiles = Epilogue::gated ? 1 : UnitTiles;
    for (unsigned begin = 0; begin < elements * tiles; begin += product_threads) {
      const unsigned element = begin + simt::thread();
      const bool there = element < elements * tiles;
      const unsigned output = element % tile_outputs;
      const unsigned tile = element / tile_outputs % tiles;
      const unsigned unit = element / tile_outputs / tiles % job.units;
      const unsigned token = element / tile_outputs / tiles / job.units;
      float values[2] = {};
      TEMPERA_UNROLL
      for (unsigned t = 0; t < UnitTiles / tiles; ++t) {
        if (!there) break;
        if (whole) {
          values[t] =
              total[((unit * UnitTiles + tile + t) * Layout::tokens + token) * Layout::sum_pitch +
                    output];
          continue;
        }
        const std::size_t segment_floats = std::size_t{plan.rows} * plan.units * result_floats;
        const float* sums =
            operands.scratch +
            (std::size_t{first_token + token} * plan.units + job.first_unit + unit) *
                result_floats +
            (tile + t) * tile_outputs + output;
        float sum = simt::load_shared_by_blocks(sums);
        for (unsigned segment = 1; segment < plan.segments; ++segment) {
          sum += simt::load_shared_by_blocks(sums + segment * segment_floats);
        }
        values[t] = sum;
      }
      const unsigned place = ((job.first_unit + unit) * tiles + tile) * tile_outputs + output;
      epilogue(plan, first_token + token, place, values, there && place < plan.out);
    }
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
