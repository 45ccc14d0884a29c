#pragma once

#include <cstddef>
#include <cstdint>

namespace tempera::gpu {

/// Bytes per second of reading device memory, 16 bytes a lane, a buffer far larger than the caches:
/// the best of five. 0 where the device system is not CUDA.
double read_bandwidth();

/// Operations per second of mma.sync on bfloat16 with float32 sums, a multiplication and an
/// addition counted as two, operands in registers: the best of five. 0 where the device system is
/// not CUDA.
double matrix_peak();

/// Seconds of one draw of `rows` rows of `vocabulary` logits, `rungs` rungs each, behind a head
/// that has left the maxima of its tiles: the median of 20. 0 where the device system is not CUDA.
///
/// spread: standard deviation of the logits; the larger, the more tokens have one ticket.
double draw_seconds(std::size_t rows, std::size_t vocabulary, std::size_t rungs, float spread);

}  // namespace tempera::gpu
