#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "gpu/device/simt/simt.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/cuda/phase_inputs.cuh"
#include "gpu/llm/transformer/kernels/cuda/product_layout.hpp"
#include "gpu/llm/transformer/kernels/cuda/tree.cuh"
#include "gpu/llm/transformer/kernels/cuda/weight_stream.cuh"

// y = W x for every batch size, by one contract (docs/reference/arithmetic.md): segments of 512
// inputs, each a chain of ascending steps of the tensor core from 0, the segments added in order.
//
// The weights are the M operand. They stream through a ring of asynchronous copies that waits for
// nothing else and runs on across units, windows and jobs: as fragments, of which each lane copies
// its own registers' 16 bytes and reads back only those, or as quantised blocks, which a warp
// copies and makes fragments of when it uses them (packed_weights.cuh). The inputs of a window of
// segments are in shared memory for all warps. Which block or warp computes a segment changes
// nothing in it, and segments are added in ascending order by whoever adds them (Adding): in shared
// memory if a job has all of them, else from scratch memory, by the block that comes last or by
// a second kernel.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

TEMPERA_ON_DEVICE inline float as_float(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// Σ x² of each row's share of this thread, to `partial`, 256 floats a row. Rows: at least
/// plan.rows. What the rows wait for is waited for once.
template <unsigned Rows, class Inputs>
TEMPERA_ON_DEVICE inline void add_squares(const ProductPlan& plan, const float* states,
                                          float* partial) {
  float sums[Rows] = {};
  TEMPERA_UNROLL_BY(16 / Rows)  // loads before the first waits
  for (unsigned i = simt::thread(); i < plan.in; i += product_threads) {
    TEMPERA_UNROLL
    for (unsigned row = 0; row < Rows; ++row) {
      const float x =
          row < plan.rows ? Inputs::load(states + std::size_t{row} * plan.in + i) : 0.0f;
      sums[row] = fused_multiply_add(x, x, sums[row]);
    }
  }
  TEMPERA_UNROLL
  for (unsigned row = 0; row < Rows; ++row) {
    if (row < plan.rows) partial[row * product_threads + simt::thread()] = sums[row];
  }
}

/// The factor 1 / sqrt(Σ x² / in + ε) of each row, in the order of sums of normalize_by_block. By
/// the whole block, and good after the next barrier. partial: room for 256 floats a row.
template <class Inputs>
TEMPERA_ON_DEVICE inline void find_factors(const ProductPlan& plan, const StagedRows& inputs,
                                           float* partial, float* factors) {
  static_assert(product_threads == 256 && largest_normed_rows == 8);
  if (plan.rows == 1) {
    add_squares<1, Inputs>(plan, inputs.states, partial);
  } else if (plan.rows <= 4) {
    add_squares<4, Inputs>(plan, inputs.states, partial);
  } else {
    add_squares<8, Inputs>(plan, inputs.states, partial);
  }
  simt::barrier();
  if (simt::warp() >= plan.rows) return;
  const float mean =
      tree_of_256(partial + simt::warp() * product_threads) / static_cast<float>(plan.in);
  if (simt::lane() == 0) factors[simt::warp()] = 1.0f / sqrtf(mean + inputs.epsilon);
}

/// bf16(weight · (x · factor)) of two neighbouring inputs, each as its bits.
TEMPERA_ON_DEVICE inline std::uint32_t normed_pair(std::uint32_t x, std::uint32_t next,
                                                   std::uint32_t weight, std::uint32_t next_weight,
                                                   float factor) {
  const std::uint16_t low = to_bfloat16(as_float(weight) * (as_float(x) * factor));
  const std::uint16_t high = to_bfloat16(as_float(next_weight) * (as_float(next) * factor));
  return low | static_cast<std::uint32_t>(high) << 16;
}

/// The same of four neighbouring inputs.
template <class Inputs>
TEMPERA_ON_DEVICE inline void normed_four(const float* x, const float* weight, float factor,
                                          std::uint32_t (&words)[2]) {
  const auto four = Inputs::load(reinterpret_cast<const simt::Vector16*>(x));
  const auto weights = *reinterpret_cast<const simt::Vector16*>(weight);
  words[0] = normed_pair(four.x, four.y, weights.x, weights.y, factor);
  words[1] = normed_pair(four.z, four.w, weights.z, weights.w, factor);
}

/// Brings the inputs of the window into shared memory: zeros for tokens and inputs that are not
/// there. By plain loads, so that the ring of weights goes on meanwhile. factors: of the rows that
/// are normalised, if MayNormalize.
template <unsigned TokenTiles, bool MayNormalize, class Inputs>
TEMPERA_ON_DEVICE inline void stage_inputs(const ProductPlan& plan, const StagedRows& inputs,
                                           const float* factors, unsigned first_token,
                                           unsigned window_begin, unsigned window_end,
                                           std::uint16_t* shared) {
  using Layout = ProductLayout<TokenTiles>;
  constexpr unsigned piece = 8;  // inputs of 16 bytes
  constexpr unsigned row_pieces = segment_inputs / piece;
  const unsigned begin = window_begin * segment_inputs;
  const unsigned staged = Layout::staged(plan.rows);
  const unsigned pieces = (window_end - window_begin) * staged * row_pieces;
  // row / staged, without a division in the loop: exact up to 2^16 / staged.
  const unsigned reciprocal = (65536 + staged - 1) / staged;
  TEMPERA_UNROLL_BY(8)
  for (unsigned p = simt::thread(); p < pieces; p += product_threads) {
    const unsigned row = p / row_pieces;  // segment-major, then tokens
    const unsigned input = p % row_pieces * piece;
    const unsigned slot = row * reciprocal / 65536;
    const unsigned token = first_token + row - slot * staged;
    const unsigned first = begin + slot * segment_inputs + input;
    simt::Vector16 value{};
    if (token < plan.rows && first < plan.in) {
      const std::size_t row_begin = std::size_t{token} * plan.in;
      if (MayNormalize && inputs.rows == nullptr) {
        const float* const x = inputs.states + row_begin;
        const float factor = factors[token];
        std::uint32_t words[2][2];
        normed_four<Inputs>(x + first, inputs.weight + first, factor, words[0]);
        normed_four<Inputs>(x + first + 4, inputs.weight + first + 4, factor, words[1]);
        value = {words[0][0], words[0][1], words[1][0], words[1][1]};
      } else if (plan.in % piece == 0) {
        value =
            Inputs::load(reinterpret_cast<const simt::Vector16*>(inputs.rows + row_begin + first));
      } else {
        // Rows that are not aligned to 16 bytes, element by element.
        std::uint32_t words[4] = {};
        TEMPERA_UNROLL
        for (unsigned i = 0; i < piece; ++i) {
          if (first + i < plan.in) {
            words[i / 2] |= std::uint32_t{Inputs::load(inputs.rows + row_begin + first + i)}
                            << (i % 2 * 16);
          }
        }
        value = {words[0], words[1], words[2], words[3]};
      }
    }
    *reinterpret_cast<simt::Vector16*>(shared + row * Layout::input_pitch + input) = value;
  }
}

/// The sum of a result's segments in order. `first`: of segment 0; the others `stride` floats
/// apart.
TEMPERA_ON_DEVICE inline float sum_of_segments(const ProductPlan& plan, const float* first,
                                               std::size_t stride) {
  float sum = 0;
  TEMPERA_NO_UNROLL
  for (unsigned begin = 0; begin < plan.segments; begin += segments_together) {
    float next[segments_together] = {};
    TEMPERA_UNROLL
    for (unsigned i = 0; i < segments_together; ++i) {
      if (begin + i < plan.segments) {
        next[i] = simt::load_shared_by_blocks(first + (begin + i) * stride);
      }
    }
    TEMPERA_UNROLL
    for (unsigned i = 0; i < segments_together; ++i) {
      if (begin + i < plan.segments) sum = begin + i == 0 ? next[i] : sum + next[i];
    }
  }
  return sum;
}

/// Adds the segments of a token's result `place`, if it is `there`, and hands it to the
/// epilogue. By whole warps: sixteen neighbouring threads have a tile of one token.
template <class Epilogue>
TEMPERA_ON_DEVICE inline void add_result(const ProductPlan& plan, const float* scratch,
                                         const Epilogue& epilogue, unsigned token, unsigned index,
                                         bool there) {
  float values[2] = {};
  if (there) {
    // Gate and up of a unit are neighbours.
    const unsigned column =
        Epilogue::gated ? index / tile_outputs * (2 * tile_outputs) + index % tile_outputs : index;
    const float* const first = scratch + std::size_t{token} * plan.token_sums() + column;
    const std::size_t stride = std::size_t{plan.rows} * plan.token_sums();
    values[0] = sum_of_segments(plan, first, stride);
    if constexpr (Epilogue::gated) values[1] = sum_of_segments(plan, first + tile_outputs, stride);
  }
  epilogue(plan, token, index, values, there && index < plan.out);
}

/// A block's share of the second phase of a product whose plan says Adding::next_kernel: a result a
/// thread. block: below plan.adding_blocks().
template <class Epilogue>
TEMPERA_ON_DEVICE inline void add_results(const ProductPlan& plan, const float* scratch,
                                          const Epilogue& epilogue, unsigned block) {
  const unsigned token_results = plan.token_sums() / (Epilogue::gated ? 2 : 1);
  const unsigned result = block * product_threads + simt::thread();
  const unsigned token = result / token_results;
  add_result(plan, scratch, epilogue, token, result % token_results, token < plan.rows);
}

/// That phase as a kernel. Grid: plan.adding_blocks(); threads: product_threads.
template <class Epilogue>
TEMPERA_KERNEL(product_threads)
add_segments(const ProductPlan plan, const float* scratch, const Epilogue epilogue) {
  add_results(plan, scratch, epilogue, simt::block().x);
}

/// A block's jobs: its own, and every simt::blocks().x after it. Weights are asked for before the
/// inputs are waited for. ask_ahead() is called once the block has used its last weights, before
/// sums are added: for what needs memory next.
/// @pre the block has a job
template <unsigned TokenTiles, unsigned UnitTiles, class Weights, class Epilogue, class Inputs,
          class AskAhead>
TEMPERA_ON_DEVICE inline void multiply_jobs(const ProductPlan& plan,
                                            const ProductOperands& operands,
                                            const Epilogue& epilogue, const Inputs& before,
                                            const AskAhead& ask_ahead) {
  using Layout = ProductLayout<TokenTiles>;
  using Cursor = WeightCursor<UnitTiles, Epilogue::gated, Weights>;
  constexpr unsigned stage_vectors = Layout::stage_fragments * 32;
  constexpr unsigned result_floats = UnitTiles * tile_outputs;
  static_assert(UnitTiles == (Epilogue::gated ? 2 : 1));
  // What is added to the stream is no product of a norm.
  constexpr bool may_normalize = Layout::factor_bytes > 0 && !Epilogue::adds;

  const unsigned lane = simt::lane();
  const unsigned ring_vectors = plan.stages * stage_vectors;
  auto* const ring = simt::shared_memory<simt::Vector16>() + simt::warp() * ring_vectors;
  const std::size_t inputs_begin = Layout::ring_bytes(plan.stages);
  auto* const inputs = simt::shared_memory<std::uint16_t>(inputs_begin);
  const unsigned staged = Layout::staged(plan.rows);
  const std::size_t factors_begin = inputs_begin + Layout::inputs_bytes(plan.window, plan.rows);
  auto* const factors = simt::shared_memory<float>(factors_begin);
  auto* const total = simt::shared_memory<float>(factors_begin + Layout::factor_bytes);
  const bool whole = plan.adding == Adding::own_block;

  // The row of a token that is not there.
  auto* const zeros = inputs + std::size_t{plan.window} * staged * Layout::input_pitch;
  if constexpr (Layout::has_zero_row) {
    for (unsigned i = simt::thread(); i < Layout::input_pitch; i += product_threads) zeros[i] = 0;
  }

  const Weights matrix = Weights::of(operands);
  Cursor ahead(plan, matrix);
  unsigned fetched = 0;  // where in the ring the next stage goes
  for (; fetched < ring_vectors - stage_vectors; fetched += stage_vectors) {
    ahead.fetch(ring + fetched);
  }
  before.wait();  // the weights were there before
  if constexpr (may_normalize) {
    // A window's rows have room for as many rows of partial sums, before the row of zeros.
    static_assert(Layout::input_pitch * 2 >= product_threads * sizeof(float));
    if (operands.inputs.rows == nullptr) {
      find_factors<Inputs>(plan, operands.inputs, simt::shared_memory<float>(inputs_begin),
                           factors);
    }
  }

  unsigned used = 0;  // where in the ring the next stage comes from
  for (unsigned number = simt::block().x; number < plan.jobs(); number += simt::blocks().x) {
    const ProductJob job = ProductJob::at(plan, number);
    const unsigned first_token = job.chunk * Layout::tokens;
    const std::size_t sum_floats = Layout::sum_floats(job.units * UnitTiles, plan.rows);
    for (unsigned window_begin = job.segment_begin; window_begin < job.segment_end;
         window_begin += plan.window) {
      const unsigned segments = job.window_segments(plan, window_begin);
      const unsigned window_end = window_begin + segments;
      simt::barrier();  // the window before has been read
      stage_inputs<TokenTiles, may_normalize, Inputs>(plan, operands.inputs, factors, first_token,
                                                      window_begin, window_end, inputs);
      simt::barrier();
      for (UnitWalk walk(job.units); walk.segment < segments; walk.go_on()) {
        const unsigned slot = walk.segment;
        const unsigned segment = window_begin + slot;
        const unsigned unit = walk.unit;
        const unsigned steps = steps_of_segment(plan, segment);
        typename Weights::Tile tiles[UnitTiles];
        TEMPERA_UNROLL
        for (unsigned tile = 0; tile < UnitTiles; ++tile) {
          tiles[tile] =
              matrix.tile(Cursor::tile_of(plan, job.first_unit + unit, tile), product_steps(plan));
        }
        float sums[UnitTiles][TokenTiles][4] = {};
        // Lane l gives row l % 8 of matrix l / 8: eight tokens, eight inputs each.
        const bool no_token = Layout::has_zero_row && lane % 8 >= staged;
        const std::uint16_t* rows =
            (no_token ? zeros : inputs + (slot * staged + lane % 8) * Layout::input_pitch) +
            lane / 8 * 8;
        TEMPERA_NO_UNROLL
        for (unsigned step = 0; step < steps; step += Cursor::stage_steps) {
          wait_for_stage(plan.stages);
          // All of the warp's copies are there, and all of it have read the stage before, into
          // whose place the next copies go.
          if constexpr (Weights::across_lanes) simt::warp_barrier();
          const simt::Vector16* stage = ring + used;
          used = used + stage_vectors == ring_vectors ? 0 : used + stage_vectors;
          const auto take_pair = [&](unsigned s, bool second) {
            simt::Vector16 weights[UnitTiles][2];
            TEMPERA_UNROLL
            for (unsigned tile = 0; tile < UnitTiles; ++tile) {
              Weights::take(tiles[tile], stage + Cursor::pair_of(s, tile), weights[tile]);
            }
            TEMPERA_UNROLL
            for (unsigned tokens = 0; tokens < TokenTiles; ++tokens) {
              const simt::Vector16 both = simt::load_matrices(
                  rows + tokens * 8 * Layout::input_pitch + (step + s) * step_inputs);
              TEMPERA_UNROLL
              for (unsigned tile = 0; tile < UnitTiles; ++tile) {
                simt::tensor_core_step(sums[tile][tokens], weights[tile][0], both.x, both.y);
                if (second) {
                  simt::tensor_core_step(sums[tile][tokens], weights[tile][1], both.z, both.w);
                }
              }
            }
          };
          if constexpr (Weights::across_lanes && Cursor::stage_steps == 2) {
            // Each packing once: two copies of them spill registers beside the sums of 32 tokens.
            take_pair(0, step + 1 < steps);
          } else if (step + Cursor::stage_steps <= steps) {
            TEMPERA_UNROLL
            for (unsigned s = 0; s < Cursor::stage_steps; s += 2) take_pair(s, true);
          } else {
            TEMPERA_NO_UNROLL
            for (unsigned s = 0; step + s < steps; s += 2) take_pair(s, step + s + 1 < steps);
          }
          ahead.fetch(ring + fetched);
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
              if (Layout::has_zero_row && token >= staged) continue;
              const float sum = sums[tile][tokens][i];
              if (!whole) {
                if (first_token + token < plan.rows) {
                  const std::size_t row = std::size_t{segment} * plan.rows + first_token + token;
                  operands.scratch[(row * plan.units + job.first_unit + unit) * result_floats +
                                   tile * tile_outputs + output] = sum;
                }
                continue;
              }
              const std::size_t index =
                  ((unit * UnitTiles + tile) * staged + token) * Layout::sum_pitch + output;
              if (plan.window > 1) {
                total[(slot + 1) * sum_floats + index] = sum;
              } else {
                total[index] = segment == 0 ? sum : total[index] + sum;
              }
            }
          }
        }
      }
      if (whole && plan.window > 1) {
        simt::barrier();
        for (std::size_t index = simt::thread(); index < sum_floats; index += product_threads) {
          float sum = total[index];
          for (unsigned segment = window_begin; segment < window_end; ++segment) {
            const float next = total[(segment - window_begin + 1) * sum_floats + index];
            sum = segment == 0 ? next : sum + next;
          }
          total[index] = sum;
        }
      }
    }

    if (number + simt::blocks().x >= plan.jobs()) ask_ahead();
    if (plan.adding == Adding::next_kernel) continue;
    if (!whole) {
      // The sums of this part are out; the block that finds all others' there adds them up.
      auto* const arrived = reinterpret_cast<std::uint32_t*>(total);
      std::uint32_t* const counter = operands.counters + job.range * plan.chunks + job.chunk;
      before.show();
      simt::barrier();
      if (simt::thread() == 0) {
        *arrived = before.count(counter) + 1;
        if (*arrived == plan.parts) *counter = 0;
      }
      simt::barrier();
      if (*arrived != plan.parts) continue;
      before.see();
    } else {
      simt::barrier();
    }
    const unsigned left = plan.rows - first_token;
    const unsigned job_tokens = left < Layout::tokens ? left : Layout::tokens;
    // Sixteen neighbouring threads have the outputs of one tile; whole warps go round together.
    const unsigned elements = job_tokens * job.units * tile_outputs;
    for (unsigned begin = 0; begin < elements; begin += product_threads) {
      const unsigned element = begin + simt::thread();
      const bool there = element < elements;
      const unsigned output = element % tile_outputs;
      const unsigned unit = element / tile_outputs % job.units;
      const unsigned token = element / tile_outputs / job.units;
      const unsigned index = (job.first_unit + unit) * tile_outputs + output;
      if (!whole) {
        add_result(plan, operands.scratch, epilogue, first_token + token, index, there);
        continue;
      }
      float values[2] = {};
      TEMPERA_UNROLL
      for (unsigned tile = 0; tile < UnitTiles; ++tile) {
        if (!there) break;
        values[tile] =
            total[((unit * UnitTiles + tile) * staged + token) * Layout::sum_pitch + output];
      }
      epilogue(plan, first_token + token, index, values, there && index < plan.out);
    }
  }
}

/// One block's jobs. Grid: plan.blocks; threads: product_threads; shared memory: plan.shared_bytes.
template <unsigned TokenTiles, unsigned UnitTiles, class Epilogue, class Weights>
TEMPERA_KERNEL(product_threads, product_blocks_together)
product(const ProductPlan plan, const ProductOperands operands, const Epilogue epilogue) {
  multiply_jobs<TokenTiles, UnitTiles, Weights>(plan, operands, epilogue, InputsOfLaunch(), [] {});
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
