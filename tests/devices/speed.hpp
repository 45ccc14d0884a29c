#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/llm/transformer/model_shapes.hpp"
#include "tests/devices/device_rates.hpp"
#include "tests/devices/figures.hpp"

namespace tempera::gpu {

/// Where part 6 measures and what it prints.
struct SpeedRun {
  Timing timing;
  Figures figures;
  DeviceRates rates;
};

/// Figures of the products of a shape and of its head, for batches of so many rows.
void measure_products(SpeedRun& run, const ModelShape& shape, std::span<const std::size_t> batches);
/// Measures attention, `context` positions after each of `rows` rows.
void measure_attention(SpeedRun& run, const ModelShape& shape, std::size_t rows,
                       std::size_t context);
/// Measures attention over pages of 8 bits, against that over pages of bfloat16.
void measure_8_bit_attention(SpeedRun& run, const ModelShape& shape, std::size_t rows,
                             std::size_t context);

/// Measures attention of fours of rows that share pages, together against each row alone: all whole
/// splits of `context` positions shared, as few as a step takes rows together for, and fewer.
void measure_shared_attention(SpeedRun& run, const ModelShape& shape, std::size_t rows,
                              std::size_t context);

/// What the figures of whole steps are told to measure; less of it on a host.
struct StepsToMeasure {
  std::vector<std::size_t> batches;
  std::size_t context = 0;        ///< tokens after each row
  std::size_t prefill = 0;        ///< tokens of a prompt
  std::size_t regenerated = 0;    ///< tokens of each rung in a round
  std::vector<std::size_t> runs;  ///< of PPT side by side, for K = 4 against K = 1
};
/// Measures whole steps, what is between them, the draw's share, prefill, rounds of K = 4 against K
/// = 1, and swaps.
void measure_steps(SpeedRun& run, const ModelShape& shape, const StepsToMeasure& what);
/// Measures whole steps at every number of rows and context that the memory has room for, as
/// graphs, with layers joined, and kernel by kernel: rows of the table "steps".
void measure_step_table(SpeedRun& run, const ModelShape& shape,
                        std::span<const std::size_t> batches,
                        std::span<const std::size_t> contexts);
/// Measures steps of each form by turns, five times each, and of what is tried of joined layers:
/// rows of the table "forms by turns".
void measure_forms_by_turns(SpeedRun& run, const ModelShape& shape,
                            std::span<const std::size_t> batches,
                            std::span<const std::size_t> contexts);
/// Measures steps whose slots are powers of two, and multiples of 8, by turns: rows of the table
/// "slots by turns".
void measure_slots_by_turns(SpeedRun& run, const ModelShape& shape,
                            std::span<const std::size_t> batches, std::size_t context);
/// Measures one layer's attention likewise, of bfloat16 and of 8 bits: rows of the table
/// "attention".
void measure_attention_table(SpeedRun& run, const ModelShape& shape,
                             std::span<const std::size_t> batches,
                             std::span<const std::size_t> contexts);
/// Measures a model with recurrent layers: one of these layers between its matrices, against twice
/// the bytes of its memories, and whole steps after `context` tokens.
void measure_recurrent(SpeedRun& run, const std::string& name, const Qwen3_5Config& config,
                       const std::vector<std::size_t>& batches, std::size_t context);
/// Seconds of a step of one row of a small shape.
void measure_small_step(SpeedRun& run, const ModelShape& shape);

}  // namespace tempera::gpu
